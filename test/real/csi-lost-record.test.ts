import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import type { VolumePlan } from "../../src/agent/model/volume-plan.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/kernel/driver-node.ts";

describe("volumes of a CSI driver of which the record is lost, on the real kernel", () => {
  let there: DriverNode;
  withDriverNode((given) => {
    there = given;
  });

  describe("a journal that was lost", () => {
    const lose = async () => {
      const journal = await there.node.journal();
      await journal.put({ ...(journal.records.get(volumeName) ?? raise()) });
      await there.node.restart();
      rmSync(`${there.node.stateDir}/journal`);
    };
    const raise = (): never => {
      throw new Error("no record");
    };

    it("what is wanted is taken over as it is mounted", async () => {
      there.node.want(there.volume());
      await there.node.converge();
      const mounts = there.node.mounts().map(({ id }) => id);
      await lose();
      await there.node.converge();
      expect(there.node.mounts().map(({ id }) => id)).to.deep.equal(mounts);
      expect((await there.node.volume(volumeName)).actualState.targets.map(({ truth }) => truth)).to.deep.equal([
        "mounted",
        "mounted",
      ]);
    });

    it("what is wanted with a label is taken for mounted with it, and is not staged anew", async () => {
      there.node.seLinux = true;
      const mounts = [{ path: there.node.target("a"), seLinuxOptions: { level: "s0:c1,c2" } }];
      there.node.want(there.volume({ of: { seLinuxMount: true }, mounts }));
      await there.node.converge();
      const ids = there.node.mounts().map(({ id }) => id);
      await lose();
      await there.node.converge();
      expect(there.node.mounts().map(({ id }) => id)).to.deep.equal(ids);
      expect(there.driver.kinds).not.to.include("unstage");
      expect((await there.record())?.stage?.csi?.seLinuxLabel).to.include("s0:c1,c2");
    });

    it("what is released is taken back, though nothing is on record", async () => {
      there.node.deadlineMs = 100;
      there.node.want(there.volume());
      await there.node.converge();
      await lose();
      there.node.want(there.volume({ deleting: true, generation: 2, mounts: [{ path: there.node.target("a") }] }));
      const first = (await there.node.plan()).volumes.get(volumeName);
      expect([first?.phase, first?.actualState.inUse]).to.deep.equal(["tearDown", true]);
      // Of a target that no intent names any more nothing is known: it is a mount like anybody's, of this volume.
      let why: string | undefined;
      const tried = async (check: (found: VolumePlan) => boolean) => {
        const found = await there.node.volume(volumeName);
        why = found.failure?.message;
        there.node.forgetFailures();
        return check(found);
      };
      await until("b to be what is left", 10_000, () => tried(({ failure }) => failure?.reason === "StillReferenced"));
      expect(why).to.include(there.node.target("b"));
      execFileSync("umount", [there.node.target("b")]);
      await until("the volume to be released", 10_000, () => tried(({ phase }) => phase === "released"));
      expect(there.driver.kinds.slice(3)).to.include.members(["unpublish", "unstage"]);
      expect(there.left()).to.deep.equal([]);
      expect(there.node.mounts()).to.deep.equal([]);
    });
  });
});
