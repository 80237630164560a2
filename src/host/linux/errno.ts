import { getSystemErrorName } from "node:util";

/** A system call failed. `code` is the errno's name, such as ENOENT. */
export class Errno extends Error {
  override readonly name = "Errno";
  readonly code: string;

  constructor(call: string, errno: number, detail = "") {
    const code = nameOf(errno);
    super(`${call}: ${code}${detail === "" ? "" : ` (${detail})`}`);
    this.code = code;
  }
}

function nameOf(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch {
    return `errno ${errno}`; // libuv does not name every errno
  }
}

/** The errno name of anything that a system call or node:fs threw; undefined for other errors. */
export function errnoOf(thrown: unknown): string | undefined {
  if (thrown instanceof Error && "code" in thrown && typeof thrown.code === "string") return thrown.code;
  return undefined;
}
