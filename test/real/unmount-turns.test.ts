import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { expect } from "chai";
import { InProcessMounter } from "../../src/host/linux/mount/in-process-mounter.ts";
import { openTarget } from "../../src/host/linux/path/walk.ts";
import { Errno } from "../../src/host/linux/syscall/errno.ts";
import { type Libc, loadLibc } from "../../src/host/linux/syscall/libc.ts";
import type { MountID } from "../../src/host/linux/syscall/mount-links.ts";
import type { TargetPath } from "../../src/host/ports/types.ts";
import { need } from "../lib/asserts/requirements.ts";
import { type Scratch, scratch } from "./scratch.ts";

const EOPNOTSUPP = 95;

describe("an unmount that has to wait", () => {
  const libc = loadLibc();
  let place: Scratch;
  let target: TargetPath;
  let key: MountID;

  beforeEach(() => {
    place = scratch();
    for (const name of ["src", "mnt/target"]) mkdirSync(`${place.path}/${name}`, { recursive: true });
    target = { prefix: `${place.path}/mnt`, path: `${place.path}/mnt/target` };
    execFileSync("mount", ["--bind", "--make-private", `${place.path}/src`, target.path]);
    const on = openTarget(libc, target);
    if (on === undefined) throw new Error("the target is missing");
    key = libc.mounts.keyOf(on.self);
    for (const held of [on.self, on.parent]) held[Symbol.dispose]();
  });
  afterEach(() => place[Symbol.dispose]());

  const sources = () => place.mounts().map(({ source }) => source);
  const replace = () => {
    execFileSync("umount", [target.path]);
    execFileSync("mount", ["-t", "tmpfs", "foreign", target.path]);
  };
  /** As it was seen, with the id that is never used again: the other one the next mount has. */
  const unmount = ({ id, unique }: MountID, by: Libc) =>
    new InProcessMounter(by, "refuseLinks").unmount(target, id, "Normal", Number(unique)).then(
      () => "unmounted",
      (error: unknown) => error,
    );
  const { handles } = libc;
  const noHandles = () => {
    throw new Errno("name_to_handle_at", EOPNOTSUPP);
  };

  for (const [what, by] of [
    ["with", libc],
    ["without", { ...libc, handles: { ...handles, handleOf: noHandles } }],
  ] as const) {
    it(`for its turn takes nothing that came in place of ours meanwhile, on a file system ${what} handles`, async () => {
      const taken: Disposable[] = [];
      for (let i = 0; i < 12; i++) taken.push(await libc.unmounts.take());
      const ended = unmount(key, by);
      await new Promise((resolve) => setImmediate(resolve));
      replace();
      for (const slot of taken) slot[Symbol.dispose]();
      expect(await ended).to.include({ reason: "TargetChanged" });
      expect(sources()).to.deep.equal(["foreign"]);
    });

    it(`for the kernel takes nothing that came in place of ours meanwhile, on a file system ${what} handles`, async function () {
      need(this, "statmount"); // by its number alone it is ours: the next mount gets that of the last
      const umount2InThread: Libc["umount2InThread"] = (...args) => {
        replace();
        return libc.umount2InThread(...args);
      };
      expect(await unmount(key, { ...by, umount2InThread })).to.equal("unmounted"); // by somebody else
      expect(sources()).to.deep.equal(["foreign"]);
    });
  }
});
