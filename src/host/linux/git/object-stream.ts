import type { Readable } from "node:stream";
import { ByteStream } from "../syscall/byte-stream.ts";

/** What `git cat-file --batch` prints: of each object a line of its id, type and size, its bytes, and a line's end. */
export class ObjectStream {
  readonly #bytes: ByteStream;

  constructor(output: Readable) {
    this.#bytes = new ByteStream(output as AsyncIterable<Buffer>);
  }

  /**
   * The next object, which must be this blob.
   * @param take told of its bytes, piece by piece
   */
  async read(object: string, size: number, take: (bytes: Buffer) => void): Promise<void> {
    const header = await this.#line();
    if (header !== `${object} blob ${size}`)
      throw new Error(`git printed ${header.slice(0, 128)} instead of ${object}`);
    await this.#bytes.each(size, take);
    if ((await this.#line()) !== "") throw new Error(`git printed more of ${object} than it has`);
  }

  async #line(): Promise<string> {
    let line = "";
    for (;;) {
      const [byte] = await this.#bytes.atMost(1);
      if (byte === undefined) throw new Error("git ended before all was read");
      if (byte === 0x0a) return line;
      line += String.fromCharCode(byte);
      if (line.length > 256) throw new Error("git printed something that is no header of an object");
    }
  }
}
