import { constants } from "node:os";
import { getSystemErrorName } from "node:util";

/**
 * What libuv has no name for, by number (include/uapi/asm-generic/errno.h; of these, all architectures of Node agree):
 * a server that lost a file (ESTALE) and others that Node knows otherwise, and some that it does not know.
 */
const unnamed: ReadonlyMap<number, string> = new Map([
  ...Object.entries(constants.errno).map(([name, errno]) => [errno, name] as const),
  [117, "EUCLEAN"],
  [123, "ENOMEDIUM"],
  [126, "ENOKEY"],
  [127, "EKEYEXPIRED"],
  [128, "EKEYREVOKED"],
  [129, "EKEYREJECTED"],
]);

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
  const name = libuvNameOf(errno);
  return name ?? unnamed.get(errno) ?? `errno ${errno}`;
}

/** libuv gives numbers that it does not know a sentence for a name. */
function libuvNameOf(errno: number): string | undefined {
  if (!Number.isInteger(errno) || errno <= 0) return undefined;
  const name = getSystemErrorName(-errno);
  return /^E[A-Z0-9]+$/.test(name) ? name : undefined;
}

/** The errno name of anything that a system call or node:fs threw; undefined for other errors. */
export function errnoOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown) || typeof thrown.code !== "string") return undefined;
  const { code } = thrown;
  if (!code.startsWith("Unknown system error") || !("errno" in thrown)) return code;
  return nameOf(-Number(thrown.errno));
}

/** What a call gives, or undefined if it fails with one of these. */
export function unlessErrno<T>(codes: readonly string[], call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (codes.includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}

/**
 * What a call gives, or undefined if a system call failed: a process, thread, file or device may end while it is looked
 * at, a link of a FUSE file system may be for its owner only, and a list may not be there at all. For what is told to
 * people, where one thing less is no evidence, and for what is done again later if it did not succeed.
 */
export function ifThere<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** What ended while it was looked at: there is no such file or process any more, or the file has nothing behind it. */
const gone = ["ENOENT", "ESRCH", "ENODEV", "ENXIO"];

/** What a look at the system gives, or undefined if that is gone. For evidence: what cannot be read otherwise fails. */
export function unlessGone<T>(look: () => T): T | undefined {
  return unlessErrno(gone, look);
}

/** Whether something is so; what a system call could not tell counts as so. */
export function mayBe(ask: () => boolean): boolean {
  return ifThere(ask) ?? true;
}
