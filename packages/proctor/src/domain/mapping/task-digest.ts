import { canonicalJson, type Hash } from '../canonical-json.ts';
import type { FileTree, Task } from '../task.ts';

/** SHA-256 over everything that can change a trial. Where the folder lies, and what only describes the task, is left out. */
export function taskDigest(task: Omit<Task, 'digest'>, hash: Hash): string {
  const { provenance: _provenance, source_fields: _sourceFields, description: _description, tags: _tags, ...rest } = task;
  const image = task.environment.image;
  return hash(
    canonicalJson({
      ...rest,
      environment: {
        ...task.environment,
        image: image?.kind === 'build' ? { kind: image.kind, dockerfile: image.dockerfile, context: contentOf(image.context) } : image,
        upload: contentOf(task.environment.upload),
      },
      verifier: task.verifier === null ? null : { ...task.verifier, files: contentOf(task.verifier.files) },
      solution: task.solution === null ? null : { ...task.solution, files: contentOf(task.solution.files) },
    }),
  );
}

function contentOf(tree: FileTree | null): string | null {
  return tree === null ? null : tree.digest;
}
