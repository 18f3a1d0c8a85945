import { open, type FileHandle } from "node:fs/promises";
import { tarEnd, tarHeader, tarPadding } from "./tar-header.ts";

const headerBytes = 512;

/** Writes a tar file of plain files, also of such whose name is known only after their content. */
export class TarWriter implements AsyncDisposable {
  readonly #file: FileHandle;
  #position = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(path: string): Promise<TarWriter> {
    return new TarWriter(await open(path, "w"));
  }

  async add(path: string, content: Buffer): Promise<void> {
    await this.#write(tarHeader({ kind: "file", path, mode: 0o644, size: content.length }));
    await this.#write(content);
    await this.#write(tarPadding(content.length));
  }

  /** Writes the content first, leaves its header's place free and fills it when `nameOf` can say the path. */
  async addStream(content: AsyncIterable<Buffer>, nameOf: () => string): Promise<number> {
    const headerPosition = this.#position;
    this.#position += headerBytes;
    for await (const chunk of content) await this.#write(chunk);
    const size = this.#position - headerPosition - headerBytes;
    await this.#write(tarPadding(size));
    const header = tarHeader({ kind: "file", path: nameOf(), mode: 0o644, size });
    await this.#file.write(header, 0, headerBytes, headerPosition);
    return size;
  }

  async end(): Promise<void> {
    await this.#write(tarEnd);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  async #write(bytes: Buffer): Promise<void> {
    await this.#file.write(bytes, 0, bytes.length, this.#position);
    this.#position += bytes.length;
  }
}
