import type { EnvironmentSpec } from '../domain/environment.ts';
import { AppError } from '../domain/errors.ts';
import type { SandboxProvider } from '../sandbox.ts';
import type { ChosenProvider } from './parts.ts';

type Probe = { kind: 'usable'; chosen: ChosenProvider } | { kind: 'unusable'; reason: string };

export type ProviderChoice = {
  choose(environment: EnvironmentSpec): Promise<ChosenProvider>;
  usable(): Promise<ChosenProvider[]>;
  unusable(): Promise<{ name: string; reason: string }[]>;
  /** Those that are not switched off, looked at or not. */
  all(): { name: string; provider: SandboxProvider }[];
  close(): Promise<void>;
};

/** Makes providers when first asked for, and looks at each once. `off` are those that configuration switched off. */
export function createProviderChoice(makers: Readonly<Record<string, () => SandboxProvider>>, off: ReadonlySet<string>): ProviderChoice {
  const providers = new Map<string, SandboxProvider>();
  const probes = new Map<string, Promise<Probe>>();
  const provided = (name: string): SandboxProvider | null => {
    const provider = providers.get(name) ?? makers[name]?.() ?? null;
    if (provider !== null) providers.set(name, provider);
    return provider;
  };
  const probe = (name: string): Promise<Probe> => {
    const known = probes.get(name) ?? look(name);
    probes.set(name, known);
    return known;
  };
  const look = async (name: string): Promise<Probe> => {
    if (off.has(`sandbox_${name}`)) return { kind: 'unusable', reason: 'switched off by configuration' };
    const provider = provided(name);
    if (provider === null) return { kind: 'unusable', reason: `this build has no ${name} sandbox` };
    const reason = await provider.unusable();
    if (reason !== null) return { kind: 'unusable', reason };
    return { kind: 'usable', chosen: { name, provider, abilities: await provider.abilities() } };
  };
  const named = async (name: string): Promise<ChosenProvider> => {
    const found = await probe(name);
    if (found.kind === 'usable') return found.chosen;
    throw new AppError('sandbox_unavailable', `the ${name} sandbox cannot be used: ${found.reason}`, { details: { sandbox: name } });
  };
  return {
    choose: async (environment) => {
      if (environment.isolation === 'none') return named('none');
      if (environment.sandbox !== 'auto') return named(environment.sandbox);
      const reasons: string[] = [];
      for (const name of ['docker', 'local']) {
        const found = await probe(name);
        if (found.kind === 'usable') return found.chosen;
        reasons.push(`${name}: ${found.reason}`);
      }
      throw new AppError(
        'sandbox_unavailable',
        `no sandbox can be used here. ${reasons.join(' — ')}. Plain processes run only by name: --isolation none`,
        { details: { sandbox: 'auto' } },
      );
    },
    usable: async () =>
      (await Promise.all(Object.keys(makers).map(probe))).flatMap((found) => (found.kind === 'usable' ? [found.chosen] : [])),
    unusable: async () => {
      const names = Object.keys(makers);
      return (await Promise.all(names.map(probe))).flatMap((found, index) =>
        found.kind === 'unusable' ? [{ name: names[index] ?? '', reason: found.reason }] : [],
      );
    },
    all: () =>
      Object.keys(makers).flatMap((name) => {
        const provider = off.has(`sandbox_${name}`) ? null : provided(name);
        return provider === null ? [] : [{ name, provider }];
      }),
    close: async () => {
      await Promise.all([...providers.values()].map((provider) => provider[Symbol.asyncDispose]()));
    },
  };
}
