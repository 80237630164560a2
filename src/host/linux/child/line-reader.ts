/** What ends a line, of a program that writes over what it wrote before as well. */
const ends = /[\r\n\b]+/;

/**
 * Puts lines together from what comes in pieces: half a line may be half a secret, which nobody would know for one. A
 * line that is longer than the limit is not told.
 */
export class LineReader {
  readonly #onLine: (line: string) => void;
  readonly #limit: number;
  #begun = "";
  #tooLong = false;

  /** @param onLine called with each line that is not blank, without blanks at its ends; `limit`: characters */
  constructor(onLine: (line: string) => void, limit: number) {
    this.#onLine = onLine;
    this.#limit = limit;
  }

  read(text: string): void {
    const [first = "", ...rest] = text.split(ends);
    this.#add(first);
    for (const piece of rest) {
      this.end();
      this.#add(piece);
    }
  }

  /** Nothing more comes of the line that was begun. */
  end(): void {
    const line = this.#begun.trim();
    const tell = !this.#tooLong && line !== "";
    this.#begun = "";
    this.#tooLong = false;
    if (tell) this.#onLine(line);
  }

  #add(piece: string): void {
    if (this.#begun.length + piece.length > this.#limit) this.#tooLong = true;
    this.#begun = this.#tooLong ? "" : this.#begun + piece;
  }
}
