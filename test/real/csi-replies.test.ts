import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { VolumeError } from "../../src/errors.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/kernel/driver-node.ts";

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
        expect(first.actualState.inUse).to.equal(true);
        there.node.forgetFailures();
        expect((await there.node.volume(volumeName)).phase).to.equal("released");
      });
    }
  });

  describe("calls without an answer", () => {
    const lost = () => new VolumeError("TimedOut", "uncertain", "no answer in time");
    const deadlineMs = 120_000;
    beforeEach(() => {
      there.node.deadlineMs = deadlineMs;
    });
    /** What the release has come to: a phase, or the reason why it goes no further. */
    const look = async () => {
      const found = await there.node.volume(volumeName);
      expect(found.actualState.inUse).to.equal(found.phase !== "released");
      there.node.forgetFailures();
      return found.failure?.reason ?? found.phase;
    };
    /**
     * Goes on until a deadline has passed: by the clock that is put forward, as on a slow machine a short one would be
     * over too soon.
     */
    const releasedAtLast = async () => {
      there.node.want(there.volume({ deleting: true, generation: 2 }));
      expect(await look()).to.equal("DriverMayStillAct");
      there.node.ahead += deadlineMs - 30_000;
      expect(await look(), "before the deadline").to.equal("DriverMayStillAct");
      there.node.ahead += 30_000;
      expect(await look(), "after it").to.equal("released");
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
          await releasedAtLast();
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
