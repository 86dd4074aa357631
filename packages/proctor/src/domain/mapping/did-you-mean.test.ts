import { expect, test } from 'vitest';
import { didYouMean } from './did-you-mean.ts';

test.each([
  ['timeout', ['user', 'timeout_sec'], 'timeout_sec'],
  ['cpu', ['cpus', 'gpus'], 'cpus'],
  ['enviroment', ['environment', 'agent'], 'environment'],
  ['memoryMb', ['memory_mb', 'memory'], 'memory_mb'],
  ['definition', ['docker_image', 'workdir'], null],
  ['x', ['os'], null],
])('%s among %j is %j', (word, known, expected) => {
  expect(didYouMean(word, known)).toBe(expected);
});
