import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { FileTree } from '../../domain/task.ts';
import { packTree } from '../../system/tar.ts';

/** A build context as a tar, without what its .dockerignore leaves out. For the builder that does not read that file itself. */
export function packContext(context: FileTree, dockerfile: string): AsyncGenerator<Uint8Array, void, undefined> {
  const ignores = ignoreRules(readIgnoreFile(context));
  // The builder needs both, whatever the rules say.
  const needed = new Set([path.posix.normalize(dockerfile), '.dockerignore']);
  return packTree({ root: context.root, files: context.files.filter((file) => needed.has(file.path) || !ignores(file.path)) });
}

/** Rules of a .dockerignore: the last that matches a path or a directory above it decides; `!` takes back. */
export function ignoreRules(text: string): (file: string) => boolean {
  const rules = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const keeps = line.startsWith('!');
      const pattern = path.posix.normalize((keeps ? line.slice(1) : line).trim()).replace(/^\/+|\/+$/g, '');
      return { keeps, matches: new RegExp(`^${toExpression(pattern)}(/|$)`) };
    });
  return (file) => {
    let ignored = false;
    for (const rule of rules) if (rule.matches.test(file)) ignored = !rule.keeps;
    return ignored;
  };
}

function readIgnoreFile(context: FileTree): string {
  return context.files.some((file) => file.path === '.dockerignore') ? readFileSync(path.join(context.root, '.dockerignore'), 'utf8') : '';
}

function toExpression(pattern: string): string {
  let expression = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const rest = pattern.slice(at);
    const set = /^\[\^?[^\]]+\]/.exec(rest)?.[0];
    if (rest.startsWith('**/')) {
      expression += '(.*/)?';
      at += 2;
    } else if (rest.startsWith('**')) {
      expression += '.*';
      at += 1;
    } else if (rest.startsWith('*')) expression += '[^/]*';
    else if (rest.startsWith('?')) expression += '[^/]';
    else if (set !== undefined) {
      expression += set;
      at += set.length - 1;
    } else if (rest.startsWith('\\') && rest.length > 1) {
      expression += escaped(rest.charAt(1));
      at += 1;
    } else expression += escaped(rest.charAt(0));
  }
  return expression;
}

function escaped(character: string): string {
  return character.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
