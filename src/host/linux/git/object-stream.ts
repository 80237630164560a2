import type { Readable } from "node:stream";

/** What `git cat-file --batch` prints: for each object a line with its id, type and size, its bytes, and the end of a line. */
export class ObjectStream {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(output: Readable) {
    this.#chunks = output[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /**
   * The next object, which must be this blob.
   * @param take told of its bytes, piece by piece
   */
  async read(object: string, size: number, take: (bytes: Buffer) => void): Promise<void> {
    const header = await this.#line();
    if (header !== `${object} blob ${size}`)
      throw new Error(`git printed ${header.slice(0, 128)} instead of ${object}`);
    for (let missing = size; missing > 0; ) {
      const piece = await this.#atMost(missing);
      missing -= piece.length;
      take(piece);
    }
    if ((await this.#line()) !== "") throw new Error(`git printed more of ${object} than it has`);
  }

  async #line(): Promise<string> {
    let line = "";
    for (;;) {
      const piece = await this.#atMost(1);
      if (piece[0] === 0x0a) return line;
      line += piece.toString("latin1");
      if (line.length > 256) throw new Error("git printed something that is no header of an object");
    }
  }

  async #atMost(bytes: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done === true) throw new Error("git ended before all was read");
      this.#rest = value;
    }
    const piece = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }
}
