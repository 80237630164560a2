import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import type { VolumePlan } from "../../src/agent/plan.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/driver-node.ts";

describe("volumes of a CSI driver that only another mount namespace shows, on the real kernel", () => {
  let there: DriverNode;
  withDriverNode((given) => {
    there = given;
  });

  /** A process in a private copy of the host's mounts, as a container has one, after it has run a script there. */
  const container = async (script: string): Promise<ChildProcess> => {
    const shell = ["sh", "-ec", `${script}; exec sleep 60`];
    const started = spawn("unshare", ["-m", "--propagation", "private", ...shell], { stdio: "ignore" });
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
    const { view, failure } = await released();
    expect([failure?.reason, view.inUse]).to.deep.equal(["StillReferenced", true]);
    expect(failure?.message).to.include(`pid ${holder.pid}`).and.include(held);
    await ended(holder);
    there.node.forgetFailures();
    expect((await there.node.volume(volumeName)).phase).to.equal("released");
  });
});
