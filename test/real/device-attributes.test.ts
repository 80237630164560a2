import { expect } from "chai";
import type { VolumeError } from "../../src/errors.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

describe("what sysfs says of a device, on the real kernel", () => {
  let node: RealNode;

  withNode(["loop-devices"], (made) => {
    node = made;
  });

  it("is what a look at the device itself says", async () => {
    const { path } = node.keep(loopDevice(`${node.path}/disks`, "disk", 8));
    const { devices } = node.host.effects({ deadlineMs: 60_000, formatDeadlineMs: 60_000, onChild: async () => {} });
    const { deviceNumber, sizeBytes, identity } = await devices.probe({ root: "/", path });
    expect(sizeBytes).to.equal(8 * 1024 * 1024);
    expect(await devices.attributes(deviceNumber)).to.deep.equal({ sizeBytes, identity });
  });

  it("is nothing of a device that has gone", async () => {
    const { devices } = node.host.effects({ deadlineMs: 60_000, formatDeadlineMs: 60_000, onChild: async () => {} });
    const reason = await devices.attributes("7:1048575").catch((error: VolumeError) => error.reason);
    expect(reason).to.equal("SourceNotFound");
  });
});
