import type { SocketFile } from "../../host/ports/sockets.ts";

/** PURE data: the difference between two looks at a directory of sockets. */
export interface SocketChanges {
  readonly gone: readonly string[];
  /** New ones, and those that have replaced another on their path; in the order seen. */
  readonly came: readonly SocketFile[];
}

/** PURE. What differs between the sockets that are known, by path, and those that were just seen. */
export function socketChanges(
  known: ReadonlyMap<string, { readonly identity: string }>,
  seen: readonly SocketFile[],
): SocketChanges {
  const there = new Set(seen.map(({ path }) => path));
  return {
    gone: [...known.keys()].filter((path) => !there.has(path)),
    came: seen.filter(({ path, identity }) => known.get(path)?.identity !== identity),
  };
}
