import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import { VolumeError } from "../../src/errors.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/driver-node.ts";

describe("what a CSI driver answers, on the real kernel", () => {
  let there: DriverNode;
  withDriverNode((given) => {
    there = given;
  });

  describe("a reply is believed only if the table agrees", () => {
    it("published, but not mounted: taken back, asked again", async () => {
      there.driver.fail("publish", "before");
      there.node.want(there.volume({ mounts: [{ path: there.node.target("a") }] }));
      const first = await there.node.volume(volumeName);
      expect(first.failure?.reason).to.equal("DriverReplyFalse");
      there.node.forgetFailures();
      await there.node.converge();
      expect(there.driver.kinds).to.deep.equal(["stage", "publish", "unpublish", "publish"]);
    });

    for (const call of ["unpublish", "unstage"] as const) {
      it(`${call} said to be done, and mounted still: in use`, async () => {
        there.node.want(there.volume());
        await there.node.converge();
        there.driver.fail(call, "before");
        const first = await there.released();
        expect(first.failure?.reason).to.equal("DriverReplyFalse");
        expect(first.view.inUse).to.equal(true);
        there.node.forgetFailures();
        expect((await there.node.volume(volumeName)).phase).to.equal("released");
      });
    }
  });

  describe("calls without an answer", () => {
    const lost = () => new VolumeError("TimedOut", "uncertain", "no answer in time");
    beforeEach(() => {
      there.node.deadlineMs = 300;
    });
    /** Goes on until the volume is released, and says for what it waited. */
    const releasedAtLast = async () => {
      const reasons = new Set<string>();
      there.node.want(there.volume({ deleting: true, generation: 2 }));
      await until("the volume to be released", 10_000, async () => {
        const found = await there.node.volume(volumeName);
        if (found.failure !== undefined) reasons.add(found.failure.reason);
        expect(found.view.inUse).to.equal(found.phase !== "released");
        there.node.forgetFailures();
        return found.phase === "released";
      });
      return reasons;
    };

    for (const call of ["stage", "publish"] as const) {
      for (const when of ["before", "after"] as const) {
        it(`${call}, lost ${when} it was done: tried again if wanted`, async () => {
          there.driver.fail(call, when, lost());
          there.node.want(there.volume());
          expect((await there.node.volume(volumeName)).failure?.reason).to.equal("TimedOut");
          there.node.forgetFailures();
          await there.node.converge();
          expect(there.node.mountAt(there.node.target("b"))).not.to.equal(undefined);
        });

        it(`${call}, lost ${when} it was done: undone if not, and released one deadline later, also by the next agent`, async () => {
          there.driver.fail(call, when, lost());
          there.node.want(there.volume({ mounts: [{ path: there.node.target("a") }] }));
          await there.node.converge();
          await there.node.restart();
          const from = performance.now();
          const reasons = await releasedAtLast();
          expect([...reasons]).to.deep.equal(["DriverMayStillAct"]);
          expect(performance.now() - from).to.be.at.least(290);
          expect(there.driver.kinds.at(-1)).to.equal("unstage");
          expect(there.left()).to.deep.equal([]);
        });
      }
    }

    it("a call that takes effect late is undone", async () => {
      const path = () => there.driver.requests.findLast(({ call }) => call === "publish")?.["targetPath"] as string;
      there.driver.fail("publish", "before", lost());
      there.node.want(there.volume({ mounts: [{ path: there.node.target("a") }] }));
      await there.node.converge();
      there.node.forgetFailures();
      there.node.want(there.volume({ deleting: true, generation: 2 }));
      expect((await there.node.volume(volumeName)).failure?.reason).to.equal("DriverMayStillAct");
      execFileSync("mkdir", ["-p", path()]);
      execFileSync("mount", ["-t", "tmpfs", "late", path()]);
      await releasedAtLast();
      expect(there.node.mounts()).to.deep.equal([]);
    });
  });
});
