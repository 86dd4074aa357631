import { z } from 'zod';

/** A command line as a list: never split, never given to a shell of ours. */
export const ArgvSchema = z
  .array(
    z
      .string()
      .max(128 * 1024)
      .refine((item) => !item.includes('\0'), 'an item cannot hold a NUL byte'),
  )
  .min(1, 'an empty list names no program')
  .refine((argv) => argv[0] !== '', 'the first item names the program and cannot be empty');

/** An item that begins with `./` and names an uploaded file is that file's place in the sandbox; every other item stays as written. */
export function placeUploaded(argv: readonly string[], uploaded: ReadonlySet<string>, target: string): string[] {
  return argv.map((item) => (item.startsWith('./') && uploaded.has(item.slice(2)) ? `${target}/${item.slice(2)}` : item));
}
