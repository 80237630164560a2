import * as fs from "node:fs";
import type { MountAttributes } from "../../../src/host/ports/types.ts";
import { type KernelCalls, MS } from "./kernel-calls.ts";
import type { PersonCall } from "./operations.ts";

const propagationFlag = { shared: MS.SHARED, slave: MS.SLAVE, private: MS.PRIVATE } as const;
const DETACH = 2;

/** Carries out what a person does, in the namespace and root directory that the thread is in. */
export function performPerson(calls: KernelCalls, asked: PersonCall): void {
  switch (asked.kind) {
    case "mkdir":
      fs.mkdirSync(asked.path, { mode: 0o755 });
      break;
    case "write":
      fs.writeFileSync(asked.path, asked.content, { mode: 0o644 });
      break;
    case "mknod":
      calls.mknod(asked.path);
      break;
    case "symlink":
      fs.symlinkSync(asked.to, asked.path);
      break;
    case "rmdir":
      fs.rmdirSync(asked.path);
      break;
    case "unlink":
      fs.unlinkSync(asked.path);
      break;
    case "rename":
      fs.renameSync(asked.from, asked.to);
      break;
    case "foreignTmpfs":
      calls.mount("foreign", asked.path, "tmpfs", 0);
      break;
    case "foreignBind":
      calls.mount(asked.from, asked.to, "", MS.BIND | (asked.recursive ? MS.REC : 0));
      break;
    case "move":
      calls.mount(asked.from, asked.to, "", MS.MOVE);
      break;
    case "umount":
      calls.umount(asked.path, asked.lazy ? DETACH : 0);
      break;
    case "remount":
      calls.mount("none", asked.path, "", MS.REMOUNT | MS.BIND | flagsOf(asked.attributes));
      break;
    case "propagation":
      calls.mount("none", asked.path, "", propagationFlag[asked.type] | (asked.recursive ? MS.REC : 0));
      break;
  }
}

function flagsOf(attributes: MountAttributes): number {
  const { readOnly, nosuid, nodev, noexec, nosymfollow, nodiratime, atime } = attributes;
  return (
    (readOnly ? MS.RDONLY : 0) |
    (nosuid ? MS.NOSUID : 0) |
    (nodev ? MS.NODEV : 0) |
    (noexec ? MS.NOEXEC : 0) |
    (nosymfollow ? MS.NOSYMFOLLOW : 0) |
    (nodiratime ? MS.NODIRATIME : 0) |
    { relatime: MS.RELATIME, noatime: MS.NOATIME, strictatime: MS.STRICTATIME }[atime]
  );
}
