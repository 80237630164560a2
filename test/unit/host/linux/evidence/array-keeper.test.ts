import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { isArrayKeeper } from "../../../../../src/host/linux/evidence/open-devices.ts";

/** A tree that is made, not /proc. */
describe("the keeper of RAID arrays, which may write to their members", () => {
  let proc: string;

  beforeEach(() => {
    proc = mkdtempSync(`${tmpdir()}/nvo-keeper-`);
    put("self", { mnt: 2, pid: 1, cgroup: "/" });
    put(1, { mnt: 1, pid: 1, cgroup: "/../../../init.scope" });
  });
  afterEach(() => rmSync(proc, { recursive: true }));

  /** As the agent sees it: its PID namespace is the node's, and its cgroup namespace its own. */
  function put(process: number | "self", { mnt, pid, cgroup }: { mnt: number; pid: number; cgroup?: string }): void {
    mkdirSync(`${proc}/${process}/ns`, { recursive: true });
    symlinkSync(`mnt:[${mnt}]`, `${proc}/${process}/ns/mnt`);
    symlinkSync(`pid:[${pid}]`, `${proc}/${process}/ns/pid`);
    if (cgroup !== undefined) writeFileSync(`${proc}/${process}/cgroup`, `0::${cgroup}\n`);
  }
  const isKeeper = (pid: number, command = "mdmon") => isArrayKeeper({ pid, command }, proc);
  const unit = "/../../../system.slice/system-mdmon.slice/mdmon@md127.service";
  const container = `/../../kubepods-pod1.slice/cri-containerd-${"0a".repeat(32)}.scope`;

  it("is mdmon of the node", () => {
    put(7, { mnt: 1, pid: 1, cgroup: unit });
    expect([isKeeper(7), isKeeper(7, "qemu")]).to.deep.equal([true, false]);
  });

  it("is that of a unit with a mount namespace of its own, too (PrivateTmp, ProtectSystem)", () => {
    put(7, { mnt: 3, pid: 1, cgroup: unit });
    expect(isKeeper(7)).to.equal(true);
  });

  it("is that where process 1 is hidden, too", () => {
    rmSync(`${proc}/1`, { recursive: true });
    put(7, { mnt: 1, pid: 1, cgroup: unit });
    expect(isKeeper(7)).to.equal(true);
  });

  it("is nothing in a container, where anything may be called so", () => {
    put(7, { mnt: 3, pid: 4, cgroup: unit });
    expect(isKeeper(7), "in a PID namespace of its own").to.equal(false);
    for (const [pid, cgroup] of [container, `${container}/beneath`, `/docker/${"1b".repeat(32)}`].entries()) {
      put(10 + pid, { mnt: 1, pid: 1, cgroup });
      expect(isKeeper(10 + pid), `with hostPID: ${cgroup}`).to.equal(false);
    }
  });

  it("is nothing of which that cannot be told, as it has ended", () => {
    put(7, { mnt: 1, pid: 1 });
    expect([isKeeper(7), isKeeper(9)]).to.deep.equal([false, false]);
  });
});
