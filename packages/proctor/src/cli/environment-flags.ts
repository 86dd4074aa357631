import type { Client } from '../api/client.ts';
import type { ExperimentOptions } from '../compositions/eval-experiment.ts';
import type { ExperimentFile } from '../compositions/experiment-file.ts';
import { EnvironmentSpecSchema } from '../domain/environment.ts';
import { AppError } from '../domain/errors.ts';
import type { Given } from './given.ts';
import { meant } from './program.ts';

type Asked = Omit<NonNullable<ExperimentFile['environment']>, 'use'>;

/** What the sandbox flags of this call ask for; absent = not given. Errors: usage, capability_not_enabled. */
export function askedEnvironment(given: Given): Asked {
  const sandbox = given.text('sandbox');
  const isolation = given.text('isolation');
  const network = given.text('network');
  const template = given.text('image-template');
  return {
    ...(sandbox === null ? {} : { sandbox: EnvironmentSpecSchema.shape.sandbox.parse(sandbox) }),
    ...(isolation === null ? {} : { isolation: EnvironmentSpecSchema.shape.isolation.parse(isolation) }),
    ...(network === null ? {} : { network: networkPolicy(network) }),
    ...(template === null ? {} : { image_template: imageTemplate(template) }),
    ...(given.flag('ignore-image') ? { ignore_image: true } : {}),
    ...(given.flag('no-build') ? { build: false } : {}),
  };
}

/** The Environment of a call: a stored one by name, a stored one changed by flags, or one made from flags alone. */
export async function chosenEnvironment(client: Client, stored: string | null, asked: Asked): Promise<ExperimentOptions['environment']> {
  if (stored === null) return { kind: 'inline', spec: EnvironmentSpecSchema.parse(asked) };
  if (Object.keys(asked).length === 0) return { kind: 'stored', reference: stored };
  const found = await client.call('environments.show', { id: stored });
  return { kind: 'inline', spec: { ...found.spec, ...asked } };
}

function networkPolicy(text: string): 'none' | 'public' {
  if (text === 'none' || text === 'public') return text;
  if (text === 'gateway' || text === 'allowlist') {
    throw new AppError(
      'capability_not_enabled',
      `--network ${text}: the capability ${text} is absent from this build: use none or public.`,
      { details: { capability: text } },
    );
  }
  throw new AppError('usage', `--network: expected none or public, found ${JSON.stringify(text)}${meant(text, ['none', 'public'])}`);
}

/** Only `{id}`; any other placeholder is an error. Without one it is the same image for every task. */
function imageTemplate(text: string): string {
  const others = [...text.matchAll(/\{[^}]*\}?/g)].map((found) => found[0]).filter((found) => found !== '{id}');
  if (others.length > 0) throw new AppError('usage', `--image-template: expected {id} as the only placeholder, found ${others.join(' ')}`);
  return text;
}
