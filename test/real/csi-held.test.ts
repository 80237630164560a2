import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import type { VolumePlan } from "../../src/agent/model/volume-plan.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/kernel/driver-node.ts";

describe("volumes of a CSI driver that only another mount namespace shows, on the real kernel", () => {
  let there: DriverNode;
  withDriverNode((given) => {
    there = given;
  });

  /** A process in a private copy of the host's mounts, as a container has one, after it has run a script there. */
  const container = async (script: string, propagation = "private"): Promise<ChildProcess> => {
    const shell = ["sh", "-ec", `${script}; exec sleep 60`];
    const started = spawn("unshare", ["-m", "--propagation", propagation, ...shell], { stdio: "ignore" });
    there.node.keep({ [Symbol.dispose]: () => void started.kill() });
    await once(started, "spawn");
    await until("the container to be set up", 10_000, () => {
      if (started.exitCode !== null) throw new Error(`its script failed: ${script}`);
      return readFileSync(`/proc/${started.pid}/comm`, "utf8") === "sleep\n";
    });
    return started;
  };
  const ended = async (process: ChildProcess) => {
    process.kill();
    await once(process, "exit");
  };
  const one = (more: object = {}) => there.volume({ mounts: [{ path: there.node.target("a") }], ...more });
  /** The volume after its intent was deleted, and what failed was tried again a few times. */
  const released = async (): Promise<VolumePlan> => {
    there.node.want(one({ deleting: true, generation: 2 }));
    for (let round = 0; round < 3; round++) {
      await there.node.converge();
      there.node.forgetFailures();
    }
    return there.node.volume(volumeName);
  };

  it("what a late publish had mounted is not forgotten when it is taken back", async () => {
    there.node.want(one());
    await there.node.converge();
    const published = await there.publishedFor("a");
    const directory = published.replace(/\/mounts\/.*/, "");
    const stray = `${directory}/mounts/stray`;
    const held = `${there.node.path}/held`;
    mkdirSync(stray);
    mkdirSync(held);
    execFileSync("mount", ["-t", "tmpfs", "stray-fs", stray]);
    const holder = await container(
      `mount --bind ${stray} ${held}; umount ${stray} ${there.node.target("a")} ${published} ${directory}/staging`,
    );
    const { actualState, failure } = await released();
    expect([failure?.reason, actualState.inUse]).to.deep.equal(["StillReferenced", true]);
    expect(failure?.message).to.include(`pid ${holder.pid}`).and.include(held);
    await ended(holder);
    there.node.forgetFailures();
    expect((await there.node.volume(volumeName)).phase).to.equal("released");
  });

  for (const staged of [true, false]) {
    it(`what is open by the publish path alone is in use, ${staged ? "staged" : "without a stage"} (safety rule 6)`, async () => {
      there.driver.capabilities = { ...there.driver.capabilities, stageUnstage: staged };
      if (!staged) there.driver.directory = `${there.node.path}/src`;
      there.node.want(one());
      await there.node.converge();
      const published = await there.publishedFor("a");
      const others = staged ? ` ${published.replace(/\/mounts\/.*/, "/staging")}` : "";
      const holder = await container(`umount ${there.node.target("a")}${others}; exec 3>${published}/written`);
      const { actualState, failure } = await released();
      expect([failure?.reason, actualState.inUse]).to.deep.equal(["StillReferenced", true]);
      expect(failure?.message).to.include(`pid ${holder.pid}`).and.include(published);
      expect(there.driver.kinds, "it would remove the mount point").not.to.include("unpublish");
      await ended(holder);
      there.node.forgetFailures();
      expect((await there.node.volume(volumeName)).phase).to.equal("released");
    });
  }

  it("a copy of what is staged is in use, also while another volume of the driver shows the same file system", async () => {
    there.driver.directory = `${there.node.path}/src`;
    const same = { driver: there.driver.name, volumeHandle: "vol-2" };
    const other = one({
      name: "node.volume-2",
      source: { csi: same },
      grant: { id: "grant-2", csi: { ...same, accessMode: "ReadWriteOnce" } },
      mounts: [{ path: there.node.target("b") }],
    });
    there.node.want(one(), other);
    await there.node.converge();
    const staging = (await there.record())?.stage?.path ?? "";
    const rest = there.node.mounts().flatMap(({ point }) => (point === staging ? [] : [point]));
    const holder = await container(`umount ${rest.join(" ")}`);
    there.node.want(one({ deleting: true, generation: 2 }), other);
    const { actualState, failure } = await there.node.volume(volumeName);
    expect([failure?.reason, actualState.inUse]).to.deep.equal(["StillReferenced", true]);
    expect(failure?.message).to.include(`pid ${holder.pid}`).and.include(staging);
    await ended(holder);
    there.node.forgetFailures();
    expect((await there.node.volume(volumeName)).phase).to.equal("released");
    expect(there.node.mountAt(there.node.target("b")), "the other volume's").not.to.equal(undefined);
  });

  for (const propagation of ["slave", "shared"]) {
    it(`a namespace that is told of the unmount (${propagation}) keeps nothing`, async () => {
      there.node.want(one());
      await there.node.converge();
      await container("true", propagation);
      expect((await released()).phase).to.equal("released");
    });
  }
});
