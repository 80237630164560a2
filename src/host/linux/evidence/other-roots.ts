import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isLocal } from "../../mount-table/may-block.ts";
import { type MountEntry, parseMountinfo } from "../../mount-table/mountinfo.ts";
import { ifThere } from "../syscall/errno.ts";

/** A root directory of other processes. */
export interface OtherRoot {
  /** A process that has it. */
  readonly pid: number;
  /** A path to it: `/proc/7/root`. */
  readonly root: string;
  /** What is mounted beneath it, by paths that begin so, too. */
  readonly mounts: readonly Pick<MountEntry, "fsType" | "point">[];
}

/**
 * The root directories of all processes in other mount namespaces, each once: the same path leads elsewhere there. One
 * that may hang is left out.
 * @param proc /proc, or a made tree
 */
export function* otherRoots(proc = "/proc"): Generator<OtherRoot> {
  const own = ifThere(() => readlinkSync(`${proc}/self/ns/mnt`));
  const seen = new Set<string>();
  for (const pid of (ifThere(() => readdirSync(proc)) ?? []).filter((name) => /^\d+$/.test(name))) {
    const root = `${proc}/${pid}/root`;
    const namespace = ifThere(() => readlinkSync(`${proc}/${pid}/ns/mnt`));
    const key = ifThere(() => `${namespace} ${readlinkSync(root)}`);
    if (namespace === undefined || namespace === own || key === undefined || seen.has(key)) continue;
    const mounts = parseMountinfo(ifThere(() => readFileSync(`${proc}/${pid}/mountinfo`, "utf8")) ?? "");
    if (!mounts.some(({ point, fsType }) => point === "/" && isLocal(fsType))) continue;
    seen.add(key);
    yield { pid: Number(pid), root, mounts: mounts.map(({ point, fsType }) => ({ point: `${root}${point}`, fsType })) };
  }
}
