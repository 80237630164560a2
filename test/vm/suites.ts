import { full } from "../lib/asserts/requirements.ts";

/** A suite that runs in the VM, without --full some of its tests only, or none, and how many there are at least. */
export interface Suite {
  readonly title: string;
  readonly only?: string;
  readonly atLeast: number;
  /** It takes minutes there. */
  readonly onlyFull?: true;
  /** The second VM has it, so that both have as much to do. */
  readonly second?: true;
}

/** Points of the contract that differ most from one file system to the other. */
const few = ".* (is mounted on each|comes back|is released without|change of options|no Secret)";

export const suites: readonly Suite[] = [
  { title: "plugin contract: nfs", only: few, atLeast: 4 },
  // The rest is as NFS has it.
  { title: "plugin contract: cifs", only: ".* (is mounted on each|is released without|no Secret)", atLeast: 3 },
  { title: "plugin contract: fc", only: ".*(is mounted on each|comes back|is released without|grows)", atLeast: 4 },
  { title: "an NFS server that stops", atLeast: 2 },
  { title: "an emptyDir with a limit on", atLeast: 6 },
  { title: "CIFS shares of two users", only: " (a password|credentials)", atLeast: 2 }, // what NFS has not
  { title: "a program that is to outlive its container", atLeast: 2 },
  { title: "LUNs of iSCSI targets", atLeast: 9, second: true },
  { title: "a LUN of two paths under multipathd", atLeast: 2, second: true },
  {
    title: "plugin contract: iscsi, by CHAP",
    only: " (grows|is released without|no Secret)",
    atLeast: 3,
    second: true,
  },
  { title: "LUKS and LVM beneath a local volume", only: " a LUKS", atLeast: 1 }, // the other stories take minutes there
  { title: "swap: LUKS and LVM beneath a local volume", atLeast: 1, onlyFull: true }, // test/real has it with stand-ins
  { title: "a disk of device-mapper's flakey", atLeast: 3 },
  { title: "a disk of a mounted volume that cannot be read any more", atLeast: 1 },
  { title: "SCSI disks of a Fibre Channel target", atLeast: 6 },
  { title: "a disk that the kernel serves to other machines", atLeast: 3 },
  { title: "one LUN that two nodes find", atLeast: 1, second: true },
];

/** Of a cluster that runs beside the VM, which reaches it: what tells most in two to four minutes. */
export const cephSuites: readonly Suite[] = [
  { title: "plugin contract: rbd", only: " (is released without|no Secret)", atLeast: 2 },
  { title: "plugin contract: rbd, by rbd-nbd", only: " is released without", atLeast: 1 },
  { title: "rbd by the kernel's client", only: " (waits|says of (a key|an image without))", atLeast: 3 },
  { title: "rbd by rbd-nbd", atLeast: 8, onlyFull: true },
  { title: "plugin contract: cephfs, by the kernel", only: " no Secret", atLeast: 1 },
  { title: "cephfs by the kernel's client", only: " (is mounted with|an MDS)", atLeast: 2 },
  { title: "a Ceph cluster that dies", atLeast: 1, onlyFull: true },
];

/** Those that run now. */
export function asked(of: readonly Suite[]): Suite[] {
  return of.filter(({ onlyFull }) => full() || onlyFull !== true);
}

/** PURE. A regular expression of the titles of their tests. */
export function titlesOf(of: readonly Suite[], whole = full()): string {
  return `^(${of.map(({ title, only = "" }) => title + (whole ? "" : only)).join("|")})`;
}
