import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { VolumeError } from "../../src/errors.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/kernel/driver-node.ts";

describe("volumes of a CSI driver that grow, on the real kernel", () => {
  let there: DriverNode;
  withDriverNode((given) => {
    there = given;
  });

  describe("growth", () => {
    const grown = (capacityBytes: string, generation = 2, more: object = {}) =>
      there.volume({ capacityBytes, generation, ...more });
    const reached = async () => (await there.node.journal()).records.get(volumeName)?.stage?.csi?.capacityBytes;
    beforeEach(() => {
      there.driver.capabilities = { ...there.driver.capabilities, expand: true };
    });

    it("is asked for once, and again when the size has grown", async () => {
      there.node.want(grown("8388608", 1));
      await there.node.converge();
      await there.node.converge();
      expect(there.driver.kinds).to.deep.equal(["stage", "publish", "publish", "expand"]);
      there.driver.onExpand = (required) => {
        const path = there.driver.requests.at(-1)?.["volumePath"] as string;
        execFileSync("mount", ["-o", `remount,size=${required}`, path]);
        return required;
      };
      there.node.want(grown("16777216"));
      await there.node.converge();
      expect(there.driver.requests.at(-1)).to.include({ call: "expand", requiredBytes: "16777216" });
      expect(await reached()).to.equal("16777216");
    });

    it("is not believed if the file system has its size of before", async () => {
      there.node.want(grown("8388608", 1));
      await there.node.converge();
      there.node.want(grown("16777216"));
      const found = await there.node.volume(volumeName);
      expect(found.failure?.reason).to.equal("DriverReplyFalse");
      expect([await reached(), found.actualState.targets.every(({ truth }) => truth === "mounted")]).to.deep.equal([
        "8388608",
        true,
      ]);
    });

    it("a driver without EXPAND_VOLUME has nothing to do: the size is what the backend has", async () => {
      there.driver.capabilities = { ...there.driver.capabilities, expand: false };
      there.node.want(grown("8388608", 1));
      await there.node.converge();
      expect([there.driver.kinds.includes("expand"), await reached()]).to.deep.equal([false, "8388608"]);
    });

    it("never of what is read-only on the node", async () => {
      there.node.want(grown("8388608", 1, { mounts: [{ path: there.node.target("a"), readOnly: true }] }));
      await there.node.converge();
      expect(there.driver.kinds).to.deep.equal(["stage", "publish"]);
    });

    for (const reason of ["ExpansionInfeasible", "VolumeInUse"] as const) {
      it(`${reason}: said, the mounts stay, and the same size is not asked for again`, async () => {
        there.driver.fail("expand", "before", new VolumeError(reason, "final", "no"));
        there.node.want(grown("8388608", 1));
        await there.node.converge();
        await there.node.converge();
        const found = await there.node.volume(volumeName);
        expect(there.driver.kinds.filter((kind) => kind === "expand")).to.have.length(1);
        expect(found.actualState.targets.every(({ truth }) => truth === "mounted")).to.equal(true);
        there.node.want(grown("16777216"));
        there.driver.onExpand = (required) => {
          execFileSync("mount", [
            "-o",
            `remount,size=${required}`,
            there.driver.requests.at(-1)?.["volumePath"] as string,
          ]);
          return required;
        };
        await there.node.converge();
        expect(await reached()).to.equal("16777216");
      });
    }
  });
});
