import type { PreparedImage, SandboxLabels } from '../../sandbox.ts';
import { readEntries } from '../../system/tar.ts';
import { createContainer, removeContainer } from './container.ts';
import type { EngineClient } from './engine.ts';
import { ContainerFiles } from './files.ts';
import { toEngineLabels } from './labels.ts';

/** Files as the image has them, from a container that is made when first asked and never started. */
export class OriginalFiles implements AsyncDisposable {
  #engine: EngineClient;
  #image: PreparedImage;
  #labels: SandboxLabels;
  #container: Promise<string> | null = null;

  constructor(engine: EngineClient, image: PreparedImage, labels: SandboxLabels) {
    this.#engine = engine;
    this.#image = image;
    this.#labels = labels;
  }

  async read(path: string, maxBytes: number): Promise<Uint8Array | null> {
    this.#container ??= createContainer(this.#engine, {
      Image: this.#image.id,
      Entrypoint: ['cat'],
      Cmd: [],
      Labels: toEngineLabels(this.#labels),
      HostConfig: { NetworkMode: 'none', LogConfig: { Type: 'none' } },
    });
    const files = new ContainerFiles(this.#engine, await this.#container);
    const real = await files.realPath(path);
    if (real === null) return null;
    const stat = await files.stat(real);
    if (stat === null || stat.size > maxBytes) return null;
    const tar = await files.download(real);
    if (tar === null) return null;
    const [entry] = await readEntries(tar, { maxFileBytes: maxBytes, maxFiles: 1 });
    return entry?.type === 'file' ? entry.content : null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const id = await this.#container?.catch(() => null);
    if (id != null) await removeContainer(this.#engine, id);
  }
}
