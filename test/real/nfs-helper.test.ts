import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import type { VolumeError } from "../../src/errors.ts";
import { ChildRunner } from "../../src/host/linux/child/child-runner.ts";
import { ChildMounter } from "../../src/host/linux/mount/child-mounter.ts";
import type { FilesystemMount } from "../../src/host/ports/host-ports.ts";
import type { ChildProcessID } from "../../src/host/ports/types.ts";
import { systemTimers } from "../../src/system.ts";
import { need } from "../lib/asserts/requirements.ts";
import { DeadlinesByHand } from "../lib/fakes/deadlines-by-hand.ts";
import { childCommand } from "../lib/kernel/child-command.ts";
import { type Scratch, scratch } from "./scratch.ts";

/** A fake helper: the kernel need not have NFS for what happens to the process. */
const fakeHelper = (directory: string) => `#!/bin/sh
echo "$$" > ${directory}/pid
echo "$*" > ${directory}/args
echo "$USER $PASSWD" > ${directory}/env
tr '\\0' ' ' < /proc/$PPID/cmdline > ${directory}/parent
[ "$1" = gone:/x ] && exec sleep 600
[ "$1" = //files/tells ] && echo "mount error(13): for $PASSWD" >&2 && exit 32
exit 0
`;

describe("mount.nfs and mount.cifs in a child", () => {
  let place: Scratch;
  let children: ChildProcessID[];

  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    place = scratch();
    children = [];
    mkdirSync(`${place.path}/sbin`);
    for (const name of ["mount.nfs", "mount.cifs"])
      writeFileSync(`${place.path}/sbin/${name}`, fakeHelper(place.path), { mode: 0o755 });
    execFileSync("mount", ["--bind", `${place.path}/sbin`, "/usr/sbin"]);
  });
  afterEach(() => {
    execFileSync("umount", ["/usr/sbin"]);
    place[Symbol.dispose]();
  });

  function mounter(deadlineMs: number, timers = systemTimers): ChildMounter {
    const runner = new ChildRunner({ timers, command: childCommand() });
    const onChild = async (id: ChildProcessID) => void children.push(id);
    return new ChildMounter(runner, { volume: "v", deadlineMs, formatDeadlineMs: deadlineMs, onChild });
  }

  const request = (source: string): FilesystemMount => ({
    fsType: "nfs",
    source,
    target: { prefix: place.path, path: `${place.path}/staging` },
    options: ["vers=4.2", "soft"],
    attributes: {
      readOnly: true,
      nosuid: true,
      nodev: false,
      noexec: false,
      atime: "relatime",
      nodiratime: false,
      nosymfollow: false,
    },
  });

  it("is the process that is on record, with the options that mount(8) would give it", async () => {
    await mounter(10_000).mountFilesystem(request("files:/y"));
    expect(children.map(({ pid }) => `${pid}\n`)).to.deep.equal([readFileSync(`${place.path}/pid`, "utf8")]);
    const args = readFileSync(`${place.path}/args`, "utf8");
    expect(args).to.equal(`files:/y ${place.path}/staging -o ro,nosuid,vers=4.2,soft\n`);
  });

  it("mount.cifs gets the password by its environment, and no argument of any process has it", async () => {
    const credentials = { username: "ann", password: "s3cret" };
    await mounter(10_000).mountFilesystem({ ...request("//files/y"), fsType: "cifs", credentials });
    expect(readFileSync(`${place.path}/env`, "utf8")).to.equal("ann s3cret\n");
    expect(readFileSync(`${place.path}/args`, "utf8")).to.not.match(/ann|s3cret/);
    expect(readFileSync(`${place.path}/parent`, "utf8")).to.not.match(/ann|s3cret/);
  });

  it("mount.cifs cannot tell the password, however long it is: it is taken out before anything is cut", async () => {
    const credentials = { username: "ann", password: Array.from({ length: 300 }, (_, i) => `${i}s3cret`).join("") };
    const error = await mounter(10_000)
      .mountFilesystem({ ...request("//files/tells"), fsType: "cifs", credentials })
      .then(
        () => expect.fail("mounted"),
        (thrown: VolumeError) => thrown,
      );
    expect(error.reason).to.equal("CredentialsRefused");
    expect(error.message).to.not.include("s3cret");
  });

  it("has ended when its deadline is told of, so that nothing mounts behind the next attempt", async () => {
    const deadlines = new DeadlinesByHand();
    const mounting = mounter(deadlines.ms, deadlines)
      .mountFilesystem(request("gone:/x"))
      .then(
        () => expect.fail("mounted"),
        (thrown: VolumeError) => thrown,
      );
    await until("the helper to hang", 10_000, () => existsSync(`${place.path}/parent`)); // the last that it writes
    deadlines.runOut();
    expect(await mounting).to.include({ reason: "TimedOut", errorClass: "uncertain" });
    const pid = readFileSync(`${place.path}/pid`, "utf8").trim();
    expect(existsSync(`/proc/${pid}`), `process ${pid} is there still`).to.equal(false);
  });
});
