import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { expect } from "chai";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { VolumeError } from "../../src/errors.ts";
import { InProcessMounter } from "../../src/host/linux/mount/in-process-mounter.ts";
import { LinuxMountTable } from "../../src/host/linux/mount-table/linux-mount-table.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import type { MountEntry } from "../../src/host/mount-table/mountinfo.ts";
import type { Mounter } from "../../src/host/ports/host-ports.ts";
import type { MountAttributes } from "../../src/host/ports/types.ts";
import { realSystem } from "../../src/system.ts";
import { need } from "../lib/asserts/requirements.ts";
import { type Scratch, scratch } from "./scratch.ts";

const attributes: MountAttributes = {
  readOnly: true,
  nosuid: false,
  nodev: false,
  noexec: false,
  nosymfollow: false,
  nodiratime: false,
  atime: "relatime",
};

describe("a mount id that is in use again, on the real kernel", () => {
  const mounter = new InProcessMounter(loadLibc(), "refuseLinks");
  const table = new LinuxMountTable("self", realSystem(silent));
  let place: Scratch;

  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    place = scratch();
    mkdirSync(`${place.path}/target`);
  });
  afterEach(() => place[Symbol.dispose]());
  after(() => table.close());

  async function mountAnother(): Promise<MountEntry> {
    execFileSync("mount", ["-t", "tmpfs", "same", `${place.path}/target`]);
    const mount = (await table.read()).at(`${place.path}/target`);
    if (mount === undefined) throw new Error("it is not in the table");
    return mount;
  }

  const calls: { readonly [name: string]: (mounter: Mounter, mount: MountEntry, path: string) => Promise<void> } = {
    unmount: (m, { id, uniqueID }, path) => m.unmount({ prefix: place.path, path }, id, "Normal", uniqueID),
    setAttributes: (m, { id, uniqueID }, path) =>
      m.setAttributes({ prefix: place.path, path }, id, attributes, uniqueID),
    reconfigure: (m, { id, uniqueID }, path) => m.reconfigure({ prefix: place.path, path }, id, ["size=4k"], uniqueID),
  };
  for (const [name, call] of Object.entries(calls)) {
    it(`${name} leaves the mount alone that has the id of the one that was seen`, async function () {
      const first = await mountAnother();
      if (first.uniqueID === undefined) skipBecause(this, "needs statmount, Linux 6.8");
      execFileSync("umount", [`${place.path}/target`]);
      const second = await mountAnother();
      expect(second.uniqueID).to.not.equal(first.uniqueID);
      // The kernel gives the lowest free id: mostly it is the same again, but not if others mount at this moment.
      const refusal = await call(mounter, { ...first, id: second.id }, second.point).catch((error: unknown) => error);
      expect(refusal).to.be.instanceOf(VolumeError);
      expect((refusal as VolumeError).reason).to.equal("TargetChanged");
      expect(await table.read()).to.satisfy((now: { at(path: string): unknown }) => now.at(second.point) === second);
      await call(mounter, second, second.point);
    });
  }
});
