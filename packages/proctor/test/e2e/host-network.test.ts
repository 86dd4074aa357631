import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { EnvironmentSpecSchema } from '../../src/domain/environment.ts';
import { script, unusable, World } from './world.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'proctor-host-network-'));
const bundle = path.join(directory, 'corp.pem');
writeFileSync(bundle, 'a certificate of this host\n', { mode: 0o600 });
const SECRET = 'pass-of-the-proxy';
const HOST = {
  https_proxy: `http://jo:${SECRET}@proxy.invalid:3128`,
  HTTP_PROXY: 'http://127.0.0.1:3128',
  NO_PROXY: '.corp',
  SSL_CERT_FILE: bundle,
};
const SAYS = script('env | sort; cat "$SSL_CERT_FILE"; echo "$https_proxy" | base64');
const VERIFIER =
  '#!/bin/sh\ncd "$PROCTOR_WORKDIR" && ls "$PROCTOR_TESTS"\nenv | grep -i proxy | grep -v PROCTOR\ncat "$SSL_CERT_FILE"\necho 1 > "$PROCTOR_LOGS/verifier/reward.txt"\n';
const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
  rmSync(directory, { recursive: true, force: true });
});

for (const sandbox of ['local', 'docker', 'none'] as const) {
  const reason = sandbox === 'none' ? null : await unusable(sandbox);
  if (reason !== null) console.warn(`skipped: ${reason}`);

  describe.skipIf(reason !== null)(`the host's proxies and certificates in ${sandbox}`, () => {
    test('a sandbox with a network has them, agent and verifier alike, and no secret of theirs is kept', async () => {
      const { said, world, warnings } = await run(sandbox, 'public');
      expect(said).toContain('https_proxy=http://[REDACTED]@proxy.invalid:3128');
      expect(said).toContain('NO_PROXY=.corp');
      expect(said).toContain('a certificate of this host');
      if (sandbox === 'docker') {
        expect(said).not.toContain('HTTP_PROXY=');
        expect(warnings).toEqual([expect.stringContaining("HTTP_PROXY names a proxy on this host's loopback address")]);
      } else {
        expect(said).toContain('HTTP_PROXY=http://127.0.0.1:3128');
        expect(warnings).toEqual([]);
      }
      expect(said.match(/a certificate of this host/g)).toHaveLength(2);
      if (sandbox === 'none') expect(said).toContain(`SSL_CERT_FILE=${bundle}`);
      else expect(said).toMatch(/SSL_CERT_FILE=\/run\/proctor\/certificates-/);
      expect(filesWith(world.home, SECRET)).toEqual([]);
      expect(filesWith(world.home, Buffer.from(`jo:${SECRET}`).toString('base64').slice(0, 20))).toEqual([]);
    });

    test.skipIf(sandbox === 'none')('a sandbox without network has none of them', async () => {
      const { said, warnings } = await run(sandbox, 'none');
      expect(said).not.toMatch(/proxy\.invalid|SSL_CERT_FILE|NO_PROXY/);
      expect(warnings).toEqual([]);
    });
  });
}

async function run(sandbox: 'local' | 'docker' | 'none', network: 'none' | 'public') {
  const world = new World(HOST);
  closers.push(() => world.close());
  const task = world.task('asks', sandbox === 'docker' ? 'docker' : 'local', {
    test: VERIFIER,
    ...(sandbox === 'docker' ? {} : { toml: '\n[verifier]\ncommand = ["sh", "/tests/test.sh"]\n' }),
  });
  const spec = sandbox === 'none' ? { isolation: 'none', network } : { sandbox, network };
  const summary = await world.one(task, SAYS, sandbox === 'docker' ? 'docker' : 'local', {
    environment: { kind: 'inline', spec: EnvironmentSpecSchema.parse(spec) },
  });
  expect(summary.trial_result).toBe('passed');
  const events = await world.events(summary.session_id);
  const warnings = events
    .filter(({ type }) => type === 'warning')
    .map(({ data }) => JSON.parse(data ?? '{}') as { code: string; message: string })
    .filter(({ code }) => code === 'variable_left_out')
    .map(({ message }) => message);
  const said = (await world.text(summary.session_id, 'run-1/stdout.txt')) + (await world.text(summary.session_id, 'verifier-1/output.txt'));
  return { said, world, warnings };
}

function filesWith(home: string, text: string): string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}
