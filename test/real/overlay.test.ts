import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { FuseServer } from "../../hack/lib/agent-on-kernel/fuse/fuse-server.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { allTiers, LinuxMountTable } from "../../src/host/linux/mount-table/linux-mount-table.ts";
import { openKnown } from "../../src/host/linux/path/known-walk.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { remoteMountOn } from "../../src/host/mount-table/may-block.ts";
import { realSystem } from "../../src/system.ts";
import { need } from "../lib/asserts/requirements.ts";
import { type Scratch, scratch } from "./scratch.ts";

describe("what an overlay waits for, on the real kernel", () => {
  let place: Scratch;
  let server: FuseServer;

  before(function () {
    need(this, "root", "fuse");
  });
  beforeEach(async () => {
    place = scratch();
    for (const name of ["fuse", "a, b:c", "lower", "upper", "work", "o"]) mkdirSync(`${place.path}/${name}`);
    writeFileSync(`${place.path}/lower/here`, "");
    server = await FuseServer.start(`${place.path}/fuse`);
  });
  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    place[Symbol.dispose]();
  });

  const overlay = (options: string) =>
    execFileSync("mount", ["-t", "overlay", "-o", options, "overlay", `${place.path}/o`]);

  for (const tier of [undefined, "mountinfo"] as const) {
    const tiers = tier === undefined ? allTiers : [tier];
    const how = tier ?? "the best way";

    it(`remoteMountOn names the mount of a layer that may hang (the table by ${how})`, async () => {
      overlay(`lowerdir=${place.path}/lower:${place.path}/fuse/data`);
      await server.stop();
      using table = tableBy(tiers);
      const now = await table.table.read();
      expect(remoteMountOn(now, `${place.path}/o/here`)?.point).to.equal(server.point);
      expect(() => openKnown(loadLibc(), `${place.path}/o/here`, now)).to.throw("EXDEV");
      server.go();
    });

    it(`remoteMountOn names none where all layers are local (the table by ${how})`, async () => {
      const { path } = place;
      const odd = String.raw`${path}/a\, b\:c`;
      overlay(`lowerdir=${odd}:${path}/lower,upperdir=${path}/upper,workdir=${path}/work`);
      using table = tableBy(tiers);
      const now = await table.table.read();
      expect(remoteMountOn(now, `${path}/o/here`)).to.equal(undefined);
      using _opened = openKnown(loadLibc(), `${path}/o/here`, now);
    });
  }

  function tableBy(tiers: typeof allTiers): Disposable & { table: LinuxMountTable } {
    const table = new LinuxMountTable("self", realSystem(silent), tiers);
    return { table, [Symbol.dispose]: () => table.close() };
  }
});
