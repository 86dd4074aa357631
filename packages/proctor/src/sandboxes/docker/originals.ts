import type { PreparedImage, SandboxLabels } from '../../sandbox.ts';
import { readEntries } from '../../system/tar.ts';
import { createContainer, removeContainer } from './container.ts';
import type { EngineClient } from './engine.ts';
import { ContainerFiles } from './files.ts';
import { toEngineLabels } from './labels.ts';

/** By image id and path: whether the image has a directory there. */
export type KnownTrees = Map<string, boolean>;

/** Files as the image has them, from a container that is made when first asked and never started. */
export class OriginalFiles implements AsyncDisposable {
  #engine: EngineClient;
  #image: PreparedImage;
  #labels: SandboxLabels;
  #known: KnownTrees;
  #container: Promise<string> | null = null;

  constructor(engine: EngineClient, image: PreparedImage, labels: SandboxLabels, known: KnownTrees) {
    this.#engine = engine;
    this.#image = image;
    this.#labels = labels;
    this.#known = known;
  }

  async read(path: string, maxBytes: number): Promise<Uint8Array | null> {
    const files = await this.#files();
    const real = await files.realPath(path);
    if (real === null) return null;
    const stat = await files.stat(real);
    if (stat === null || stat.size > maxBytes) return null;
    const tar = await files.download(real);
    if (tar === null) return null;
    const [entry] = await readEntries(tar, { maxFileBytes: maxBytes, maxFiles: 1 });
    return entry?.type === 'file' ? entry.content : null;
  }

  /** A tar of what the directory holds, relative to it. An image is asked once whether it has one. */
  async tree(path: string): Promise<AsyncIterable<Uint8Array> | null> {
    const name = `${this.#image.id} ${path}`;
    if (this.#known.get(name) === false) return null;
    const files = await this.#files();
    const real = await files.realPath(path);
    const tar = real === null ? null : await files.download(`${real}/.`);
    this.#known.set(name, tar !== null);
    return tar;
  }

  async #files(): Promise<ContainerFiles> {
    this.#container ??= createContainer(this.#engine, {
      Image: this.#image.id,
      Entrypoint: ['cat'],
      Cmd: [],
      Labels: toEngineLabels(this.#labels),
      HostConfig: { NetworkMode: 'none', LogConfig: { Type: 'none' } },
    });
    return new ContainerFiles(this.#engine, await this.#container);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const id = await this.#container?.catch(() => null);
    if (id != null) await removeContainer(this.#engine, id);
  }
}
