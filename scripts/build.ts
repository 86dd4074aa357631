// Bundles the product into packages/proctor/dist, or the directory that is named: one chunk for each lazy import, every dependency inside, so that the package needs none.
import { globSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { build, type Plugin } from 'esbuild';
import { root } from './run-step.ts';

const source = path.join(root, 'packages/proctor/src');
const output = path.resolve(process.argv[2] ?? path.join(root, 'packages/proctor/dist'));
const scratch = `${output}.${process.pid}`;

/** A program of ours that is started as a process or a worker: `new URL('./name.ts', import.meta.url)`. Built, it stands beside main.js as name.js. */
const programPattern = /new URL\(\s*'([^']+\.ts)',\s*import\.meta\.url,?\s*\)/g;

const sources = globSync('**/*.ts', { cwd: source }).filter((file) => !file.endsWith('.test.ts'));
const entries: Record<string, string> = { main: path.join(source, 'cli/main.ts') };
for (const file of sources) {
  if (file.startsWith('domain/')) entries[file.replace(/\.ts$/, '')] = path.join(source, file);
  for (const [, program = ''] of (await readFile(path.join(source, file), 'utf8')).matchAll(programPattern)) {
    entries[path.basename(program, '.ts')] = path.join(source, path.dirname(file), program);
  }
}

const programPaths: Plugin = {
  name: 'program-paths',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
      const text = await readFile(file, 'utf8');
      const contents = text.replace(
        programPattern,
        (_, program: string) => `new URL('./${path.basename(program, '.ts')}.js', import.meta.url)`,
      );
      return { contents, loader: 'ts' };
    }),
};

try {
  const { metafile } = await build({
    entryPoints: entries,
    outdir: scratch,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'eof',
    metafile: true,
    logLevel: 'warning',
    plugins: [programPaths],
    // Bundled CommonJS packages ask for Node's own modules through require.
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module';const require = createBundleRequire(import.meta.url);",
    },
  });
  await rm(output, { recursive: true, force: true });
  await rename(scratch, output);
  const built = Object.entries(metafile.outputs);
  const bytes = built.reduce((total, [, item]) => total + item.bytes, 0);
  const start = built.find(([file]) => path.basename(file) === 'main.js');
  console.log(
    `built ${built.length} files, ${kilobytes(bytes)} in all, ${kilobytes(start === undefined ? 0 : loadedBytes(start[0], metafile.outputs))} read at start`,
  );
} finally {
  await rm(scratch, { recursive: true, force: true });
}

type Outputs = Record<string, { bytes: number; imports: { path: string; kind: string }[] }>;

/** A file and everything that it imports at once. */
function loadedBytes(file: string, outputs: Outputs, seen = new Set<string>()): number {
  const item = outputs[file];
  if (item === undefined || seen.has(file)) return 0;
  seen.add(file);
  const imports = item.imports.filter((imported) => imported.kind === 'import-statement');
  return item.bytes + imports.reduce((total, imported) => total + loadedBytes(imported.path, outputs, seen), 0);
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1000).toLocaleString('en-US')} kB`;
}
