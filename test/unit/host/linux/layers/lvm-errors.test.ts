import { expect } from "chai";
import { lvmFailure } from "../../../../../src/host/linux/layers/lvm-errors.ts";

describe("lvmFailure", () => {
  it("knows the cause where the message has no room for it", () => {
    const warnings = Array.from({ length: 40 }, (_, i) => `  WARNING: device ${i} is not in the devices file.`);
    const cause = '  Volume group "data" has insufficient free space (2 extents): 4 required.';
    const stderr = [...warnings, cause, ...warnings].join("\n");
    const error = lvmFailure("data/one", "make", { code: 5, stdout: "", stderr });
    expect([error.reason, error.errorClass]).to.deep.equal(["VolumeGroupFull", "final"]);
  });
});
