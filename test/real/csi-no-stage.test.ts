import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import { VolumeError } from "../../src/errors.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/kernel/driver-node.ts";

describe("CSI drivers without STAGE_UNSTAGE_VOLUME, and those that get or lose it, on the real kernel", () => {
  let there: DriverNode;
  withDriverNode((given) => {
    there = given;
  });

  const stages = (stageUnstage: boolean) => {
    there.driver.capabilities = { ...there.driver.capabilities, stageUnstage };
  };
  const one = (more: object = {}) => there.volume({ mounts: [{ path: there.node.target("a") }], ...more });
  const released = async () => {
    let found = await there.released();
    await until("the volume to be released", 8_000, async () => {
      there.node.forgetFailures();
      found = await there.node.volume(volumeName);
      return found.phase === "released" || found.failure?.reason === "DriverFailed";
    });
    return [found.phase, found.failure?.message];
  };

  for (const wanted of [true, false]) {
    it(`a lost journal, ${wanted ? "wanted again" : "and not wanted any more"}: published without a staging path, and released`, async () => {
      there.node.deadlineMs = 100;
      stages(false);
      there.driver.directory = `${there.node.path}/src`;
      there.node.want(one());
      await there.node.converge();
      await there.node.restart();
      rmSync(`${there.node.stateDir}/journal`);
      if (wanted) await there.node.converge();
      there.node.want(one({ deleting: true, generation: 2 }));
      expect(await released()).to.deep.equal(["released", undefined]);
      expect(there.driver.kinds).not.to.include("stage");
      const publishes = there.driver.requests.filter(({ call }) => call === "publish");
      for (const request of publishes) expect(request).not.to.have.property("stagingPath");
      expect([there.left(), there.node.mounts()]).to.deep.equal([[], []]);
    });
  }

  it("one that stages no more, while something is staged: in use until that is unmounted", async () => {
    there.node.want(one());
    await there.node.converge();
    const staging = (await there.record())?.stage?.path ?? "";
    stages(false);
    there.node.want(one({ deleting: true, generation: 2 }));
    const held = await there.node.volume(volumeName);
    expect([held.failure?.reason, held.actualState.inUse]).to.deep.equal(["StillReferenced", true]);
    expect(held.failure?.message).to.include(`unmount ${staging}`);
    execFileSync("umount", [staging]);
    expect(await released()).to.deep.equal(["released", undefined]);
    expect(there.node.mounts()).to.deep.equal([]);
  });

  it("one that stages no more, after a call to stage without an answer: released one deadline after it has refused", async () => {
    there.node.deadlineMs = 120_000;
    there.driver.fail("stage", "before", new VolumeError("TimedOut", "uncertain", "no answer in time"));
    there.node.want(one());
    await there.node.converge();
    stages(false);
    const held = await there.released();
    expect([held.failure?.reason, held.actualState.inUse]).to.deep.equal(["DriverMayStillAct", true]);
    // The clock is put forward: on a slow machine a short deadline would be over before the look.
    there.node.ahead += 120_000;
    expect(await released()).to.deep.equal(["released", undefined]);
  });

  it("one that stages from now on: staged before the next is published", async () => {
    stages(false);
    there.driver.directory = `${there.node.path}/src`;
    there.node.want(one());
    await there.node.converge();
    stages(true);
    const unstaged = new VolumeError("DriverFailed", "final", "it is not staged");
    there.driver.before = async (call) => {
      if (call === "publish" && !there.driver.kinds.includes("stage")) throw unstaged;
    };
    there.node.want(there.volume({ generation: 2 }));
    await there.node.converge();
    there.node.forgetFailures();
    await there.node.converge();
    expect(there.driver.kinds).to.deep.equal(["publish", "publish", "stage", "publish"]);
    expect(there.driver.requests.at(-1)).to.have.property("stagingPath");
    there.node.want(there.volume({ generation: 3, deleting: true }));
    expect(await released()).to.deep.equal(["released", undefined]);
    expect(there.driver.kinds.at(-1)).to.equal("unstage");
  });
});
