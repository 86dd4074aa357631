import type { CompileParts } from '../compositions/compile-tasks.ts';
import type { ReadToml } from '../compositions/experiment-file.ts';

/** Until the parts are composed in one place, they are reached by name. */
export async function compileParts(): Promise<CompileParts> {
  const at = (name: string) => new URL(name, import.meta.url).href;
  const { formats } = (await import(at('../formats/index.ts'))) as { formats: CompileParts['formats'] };
  const { sources } = (await import(at('../sources/index.ts'))) as { sources: CompileParts['sources'] };
  return { formats, sources, scratch: '/tmp' };
}

export const readToml: ReadToml = async (text) => {
  const { parseToml } = (await import(new URL('../formats/harbor/toml.ts', import.meta.url).href)) as { parseToml: ReadToml };
  return parseToml(text);
};
