export type BuildFailure = { attribution: 'task' | 'infrastructure'; reason: string };

/**
 * Reads BuildKit's `--progress plain`: `#7 [2/3] RUN make` names a step, `#7 ERROR: …` fails it, and what a step prints has a time before it
 * (`#7 0.345 text`), so no step can write another's end.
 */
export class BuildKitProgress {
  #names = new Map<string, string>();
  #running = new Set<string>();
  #failed: { name: string; message: string } | null = null;
  #error: string | null = null;

  take(line: string): void {
    const [, id, text] = /^#(\d+) (.*)$/.exec(line) ?? [];
    if (id === undefined || text === undefined) {
      this.#error = /^ERROR: (.*)$/.exec(line)?.[1] ?? this.#error;
    } else if (text.startsWith('ERROR: ')) {
      this.#failed ??= { name: this.#names.get(id) ?? '', message: text.slice('ERROR: '.length) };
      this.#running.delete(id);
    } else if (!this.#names.has(id)) {
      this.#names.set(id, text);
      this.#running.add(id);
    } else if (/^(DONE|CACHED|CANCELED)/.test(text)) {
      this.#running.delete(id);
    }
  }

  failure(): BuildFailure {
    if (this.#failed !== null) {
      const { name, message } = this.#failed;
      return { attribution: isOwnStep(name) ? 'task' : 'infrastructure', reason: `${name}: ${message}` };
    }
    // A Dockerfile that makes no sense fails without any step, after its text was loaded.
    const senseless =
      this.#error?.startsWith('failed to solve: ') === true && !/rpc error|unavailable|canceled|deadline/i.test(this.#error);
    const loaded = [...this.#names.values()].some((name) => name.startsWith(DEFINITION));
    return { attribution: senseless && loaded ? 'task' : 'infrastructure', reason: this.#error ?? 'it gave no reason' };
  }

  /** Whom a build that ran out of time was waiting for. */
  waitingFor(): BuildFailure['attribution'] {
    return [...this.#running].some((id) => isOwnStep(this.#names.get(id) ?? '')) ? 'task' : 'infrastructure';
  }
}

/** A step of the Dockerfile itself: not a base image, a registry, a remote file, the export, or what the builder does for itself. */
function isOwnStep(name: string): boolean {
  return name.startsWith(DEFINITION) || (/^\[[^\]]*\d+\/\d+\] /.test(name) && !/^\[[^\]]*\] FROM /.test(name));
}

const DEFINITION = '[internal] load build definition';
