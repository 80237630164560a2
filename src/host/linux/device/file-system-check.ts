import { VolumeError } from "../../../errors.ts";
import type { ChildResult } from "../child/child-runner.ts";

/** Arguments of e2fsck(8): repair what needs no decision, and write the progress to its output. */
export const checkArgs = ["-p", "-C", "1"] as const;

/** How a child has the device open: as its standard input. */
const standardInput = "/proc/self/fd/0";

/** How e2fsck(8) -C says how far it is: pass, step, and number of steps. */
const stepShape = /^(\d+) (\d+) (\d+) \S+$/;

/** PURE. Whether a file system of this type is checked before it is mounted; others mend themselves, or not at all. */
export function isChecked(fsType: string): boolean {
  return /^ext[234]$/.test(fsType);
}

/** Tells how far a check is, each tenth of a pass once; of large disks it writes thousands of lines. */
export function checkProgress(tell: (message: string) => void): (line: string) => void {
  let last = "";
  return (line) => {
    const [, pass, step, steps] = stepShape.exec(line) ?? [];
    if (pass === undefined || !(Number(steps) > 0)) return;
    const message = `e2fsck: pass ${pass}, ${Math.floor((10 * Number(step)) / Number(steps)) * 10} %`;
    if (message !== last) tell(message);
    last = message;
  };
}

/**
 * PURE. What e2fsck(8) -p leads to, by its exit code, a sum of bits: 1, errors were mended; 2, a reboot is due, of a
 * root file system; 4, errors are left; 8 and more, it could not do its work. (kubelet: mount_linux.go
 * checkAndRepairFilesystem)
 * @returns what people are told; undefined: all was well
 * @throws VolumeError FilesystemDamaged, ReadError
 */
export function judgeCheck(path: string, { code, stdout, stderr }: ChildResult): string | undefined {
  const lines = `${stdout}\n${stderr}`.split(/[\r\n]+/).filter((line) => line.trim() !== "" && !stepShape.test(line));
  const words = lines.join("; ").replaceAll(standardInput, path).slice(-600);
  const on = { kind: "Device", name: path };
  if ((code & 4) !== 0 && /input\/output error|short read/i.test(words)) {
    const message = `${path} cannot be read: ${words}. It fails: replace it, or copy what can be read (ddrescue)`;
    throw new VolumeError("ReadError", "transient", message, { on });
  }
  if ((code & 4) !== 0) {
    const message = `${path} has errors that need a decision to repair, so it is not mounted. Copy what matters, then run on the node: e2fsck -f ${path} (${words})`;
    throw new VolumeError("FilesystemDamaged", "final", message, { on });
  }
  if (code >= 8) return `e2fsck of ${path} ended with ${code}, it is mounted unchecked: ${words}`;
  return code === 0 ? undefined : `e2fsck has repaired ${path}: ${words}`;
}

/**
 * PURE. What a check that did not end by itself means: one that was killed is begun anew; any other error is as it was.
 */
export function unfinishedCheck(path: string, error: unknown): unknown {
  if (!(error instanceof VolumeError) || error.reason !== "TimedOut") return error;
  const message = `e2fsck of ${path} was ended: ${error.message}. It is begun again; if it cannot end in that time, run it on the node: e2fsck -p ${path}`;
  return new VolumeError("TimedOut", error.errorClass, message, { on: { kind: "Device", name: path } });
}

/** PURE. What the kernel's refusal to mount a device means, if it is of what is on it; undefined if it is not. */
export function damageOf(
  source: string,
  fsType: string,
  code: string | undefined,
  log: string,
): VolumeError | undefined {
  const on = { kind: "Device", name: source };
  const said = log === "" ? (code ?? "") : log;
  const command = repairs[fsType];
  if (code === "EIO") {
    const or = command === undefined ? "" : `; if it works, its ${fsType} is damaged: ${command} ${source}`;
    const message = `${source} cannot be read: ${said}. dmesg on the node shows whether it fails; replace it then${or}`;
    return new VolumeError("ReadError", "transient", message, { on });
  }
  if (code !== "EUCLEAN" && code !== "EBADMSG") return undefined;
  const remedy = command === undefined ? "repair it" : `copy what matters, then run on the node: ${command} ${source}`;
  const message = `the ${fsType} on ${source} is damaged (${said}): ${remedy}`;
  return new VolumeError("FilesystemDamaged", "final", message, { on });
}

const repairs: { readonly [fsType: string]: string } = {
  ext2: "e2fsck -f",
  ext3: "e2fsck -f",
  ext4: "e2fsck -f",
  xfs: "xfs_repair",
  btrfs: "btrfs check",
};
