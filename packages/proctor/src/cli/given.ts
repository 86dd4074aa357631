import { AppError } from '../domain/errors.ts';

/** The options of one call, by their long name. Asking for one that the command does not declare is a defect, not an absence. */
export class Given {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #declared: ReadonlySet<string> | null;

  constructor(values: Readonly<Record<string, unknown>>, declared: Iterable<string> | null) {
    this.#values = values;
    this.#declared = declared === null ? null : new Set(declared);
  }

  text(name: string): string | null {
    const value = this.#value(name);
    return typeof value === 'string' ? value : null;
  }

  number(name: string): number | null {
    const value = this.#value(name);
    return typeof value === 'number' ? value : null;
  }

  /** True when it was given; `no-build` is given by `--no-build`. */
  flag(name: string): boolean {
    return this.#value(name) === !name.startsWith('no-');
  }

  list(name: string): string[] {
    const value = this.#value(name);
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** The same options for a reader of several commands: what this one does not declare is not given. */
  lenient(): Given {
    return new Given(this.#values, null);
  }

  #value(name: string): unknown {
    if (this.#declared?.has(name) === false)
      throw new AppError('internal', `the command asks for --${name}, which its table entry does not declare`);
    return this.#values[attributeOf(name)];
  }
}

/** How commander names an option: `--no-build` and `--build` are both `build`. */
function attributeOf(name: string): string {
  return name.replace(/^no-/, '').replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `--max-attempts <n>` → `max-attempts` */
export function longName(flags: string): string {
  return /--([a-z0-9-]+)/.exec(flags)?.[1] ?? '';
}
