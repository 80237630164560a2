/** Who holds a volume: a process that uses it, or one in whose mount namespace it is mounted. */
export interface Holder {
  /** Absent: no process that can be read is in the mount namespace. */
  readonly pid?: number;
  readonly command: string;
  /** The mount namespace that shows it, as /proc names it: `mnt:[4026532178]`. */
  readonly namespace?: string;
  /** The kernel's 64-bit id of that namespace, where it can be had (Linux 6.11). */
  readonly namespaceID?: string;
  /** Without a pid: processes that cannot be read, any of which may be in the namespace. */
  readonly unread?: readonly string[];
  /** Without a pid: what keeps the namespace, where that is known: `the file /run/kept`. */
  readonly kept?: string;
  /** The path that is held, or where the volume is mounted. */
  readonly mountPoint: string;
  /** Whether the mount is in the node's own mount namespace: no container's, and nobody's in particular. */
  readonly onNode?: boolean;
  /**
   * Whether the mount gets no word of unmounts elsewhere (neither shared nor slave): it stays when the node's own goes.
   */
  readonly private?: boolean;
  /** What it does with the path: `open file`, `working directory`, `mapped file`. */
  readonly use?: string;
  /** Id of the container that it is in, and UID of that container's pod, by its cgroup. */
  readonly container?: string;
  readonly pod?: string;
}

/**
 * So many processes are looked for that have one device open or use one mount: what is found has to go through a pipe.
 */
export const mostHolders = 32;

/** What keeps a mount that is no process: another mount, swap or a loop device on it. */
export interface Blocker {
  readonly kind: "Mount" | "Swap" | "LoopDevice";
  /** Mount point, or path of the file or device. */
  readonly name: string;
  /** For people: type and source of a mount, the file of a loop device. */
  readonly detail?: string;
}

/**
 * PURE. Whether two are in one mount namespace. The next one to be made may get the number in the name, but never the
 * id.
 */
export function sameNamespace(a: InNamespace, b: InNamespace): boolean {
  if (a.namespace === undefined || a.namespace !== b.namespace) return false;
  return a.namespaceID === undefined || b.namespaceID === undefined || a.namespaceID === b.namespaceID;
}

/** The mount namespace that a process is in. */
export type InNamespace = Pick<Holder, "namespace" | "namespaceID">;
