/** Something ends before all of it was read. */
export class EndsEarly extends Error {
  override readonly name = "EndsEarly";
  constructor() {
    super("what is read ends before it should");
  }
}

/** Bytes that come piece by piece, taken in pieces of other sizes. */
export class ByteStream {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** The next bytes, fewer only at the end: they are still there to be taken. */
  async ahead(bytes: number): Promise<Buffer> {
    while (this.#rest.length < bytes) {
      const { value, done } = await this.#chunks.next();
      if (done === true) return this.#rest;
      this.#rest = Buffer.concat([this.#rest, value]);
    }
    return this.#rest.subarray(0, bytes);
  }

  /** Puts bytes before those that are still to be taken. */
  giveBack(piece: Buffer): void {
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([piece, this.#rest]);
  }

  /** Some bytes, at most so many; none at the end. */
  async atMost(bytes: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done === true) return this.#rest;
      this.#rest = value;
    }
    const piece = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  /** So many bytes, told of piece by piece. @throws EndsEarly */
  async each(bytes: number, take: (piece: Buffer) => void): Promise<void> {
    for (let missing = bytes; missing > 0; ) {
      const piece = await this.atMost(missing);
      if (piece.length === 0) throw new EndsEarly();
      missing -= piece.length;
      take(piece);
    }
  }

  /** So many bytes at once; undefined if there is none left. @throws EndsEarly if they end in the middle */
  async block(bytes: number): Promise<Buffer | undefined> {
    const first = await this.atMost(bytes);
    if (first.length === 0) return undefined;
    const pieces = [Buffer.from(first)];
    await this.each(bytes - first.length, (piece) => pieces.push(Buffer.from(piece)));
    return Buffer.concat(pieces);
  }

  /** So many bytes at once. @throws EndsEarly if there are fewer */
  async whole(bytes: number): Promise<Buffer> {
    const block = await this.block(bytes);
    if (block === undefined) throw new EndsEarly();
    return block;
  }
}
