/** Nothing of this node's /etc/ceph, nor what monitors would have a program of Ceph change. */
export const nothingOfNode = ["--conf=/dev/null", "--no-mon-config", "--admin-socket=", "--keyring="] as const;

/** PURE. Errno's number of what a program of Ceph says last, `(13) Permission denied`. */
export function cephErrno(words: string): number | undefined {
  const found = [...words.matchAll(/\((\d{1,3})\) [A-Z]/g)].at(-1)?.[1];
  return found === undefined ? undefined : Number(found);
}
