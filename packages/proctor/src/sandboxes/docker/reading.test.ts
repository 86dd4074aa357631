import { expect, test } from 'vitest';
import { baseImages } from './build-classic.ts';
import { ignoreRules } from './build-context.ts';
import { BuildKitProgress } from './buildkit-progress.ts';
import { repositoryOf } from './image-config.ts';

test.for([
  ['*.log', 'a.log', true],
  ['*.log', 'd/a.log', false],
  ['**/*.log', 'd/e/a.log', true],
  ['**/*.log', 'a.log', true],
  ['d', 'd/e/f', true],
  ['/d/', 'd/f', true],
  ['d', 'dd/f', false],
  ['d/*\n!d/kept', 'd/kept', false],
  ['!d/kept\nd', 'd/kept', true],
  ['# d\n', '# d', false],
  ['a?c', 'abc', true],
  ['a[bc]d', 'acd', true],
  ['a.b', 'axb', false],
  ['**', 'any/thing', true],
] as const)('.dockerignore %j on %s: %s', ([rules, file, ignored]) => {
  expect(ignoreRules(rules)(file)).toBe(ignored);
});

test('base images are those that no earlier stage is', () => {
  const dockerfile =
    'ARG V=12\nARG REPO="debian"\nFROM --platform=linux/amd64 ${REPO}:$V AS Base\nFROM base\nFROM scratch AS x\nFROM python:${PY:-3}\nFROM a:1 \\\n AS b\nFROM $UNKNOWN\n';
  expect(baseImages(dockerfile)).toEqual(['debian:12', 'python:3', 'a:1']);
});

test.for([
  [
    '#1 [internal] load build definition from Dockerfile\n#5 [2/2] RUN x\n#5 0.2 #5 ERROR: forged\n#5 ERROR: process did not complete: exit code: 3',
    'task',
  ],
  ['#5 [build 2/4] COPY a b\n#5 ERROR: not found', 'task'],
  ['#2 [internal] load metadata for docker.io/library/x:1\n#2 ERROR: no such host', 'infrastructure'],
  ['#4 [1/2] FROM docker.io/library/x@sha256:1\n#4 ERROR: unexpected EOF', 'infrastructure'],
  ['#4 https://example.org/file\n#4 ERROR: no such host', 'infrastructure'],
  ['#7 exporting to image\n#7 ERROR: no space left on device', 'infrastructure'],
  ['#1 [internal] load build definition from Dockerfile\n#1 DONE 0.0s\nERROR: failed to solve: dockerfile parse error on line 1', 'task'],
  ['#1 [internal] load build definition from Dockerfile\n#1 ERROR: open Dockerfile: no such file', 'task'],
  ['ERROR: Cannot connect to the Docker daemon', 'infrastructure'],
  ['#1 [internal] load build definition from Dockerfile\nERROR: failed to solve: Unavailable: closing transport', 'infrastructure'],
] as const)('a build that ends with %j is of %s', ([text, attribution]) => {
  const progress = new BuildKitProgress();
  for (const line of text.split('\n')) progress.take(line);
  expect(progress.failure().attribution).toBe(attribution);
});

test.for([
  ['ubuntu', 'ubuntu'],
  ['a/b:1', 'a/b'],
  ['host:5000/a', 'host:5000/a'],
  ['host:5000/a:1@sha256:00', 'host:5000/a'],
])('the repository of %s is %s', ([reference, repository]) => {
  expect(repositoryOf(reference!)).toBe(repository);
});
