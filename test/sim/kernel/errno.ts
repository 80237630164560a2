/** A system call that the simulated kernel refuses, with the code that Linux gives for it. */
export class Errno extends Error {
  override readonly name = "Errno";
  readonly code: string;

  constructor(code: string, call: string) {
    super(`${call}: ${code}`);
    this.code = code;
  }
}

/** The code of a refused system call; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Errno ? error.code : undefined;
}
