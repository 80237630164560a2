import { expect } from "chai";
import { intent } from "../../../../../hack/lib/agent-on-kernel/intent.ts";
import { desiredVolume } from "../../../../../src/agent/desired/desired-volume.ts";
import { capabilityOf } from "../../../../../src/agent/executor/csi/capability.ts";
import { isInvalid } from "../../../../../src/agent/model/desired.ts";
import type { CSIVolume } from "../../../../../src/plugins/api/volume-plugin.ts";

const driver = "a.example";

/** The volume of an intent, as it is granted and asked for. */
function volume(granted: object = {}, spec: object = {}): CSIVolume {
  const csi = { driver, volumeHandle: "v", accessMode: "ReadWriteOnce" as const, ...granted };
  const source = { csi: { driver, volumeHandle: "v" } };
  const desired = desiredVolume(intent({ source, grant: { id: "g", csi }, mounts: [], ...spec }), "key");
  if (isInvalid(desired) || desired.layout.csi === undefined) throw new Error("not understood");
  return desired.layout.csi;
}

describe("what a driver is asked for (kubelet behaviour 110)", () => {
  const modes = [
    ["ReadWriteOnce", "SINGLE_NODE_WRITER", "SINGLE_NODE_MULTI_WRITER"],
    ["ReadWriteOncePod", "SINGLE_NODE_WRITER", "SINGLE_NODE_SINGLE_WRITER"],
    ["ReadOnlyMany", "MULTI_NODE_READER_ONLY", "MULTI_NODE_READER_ONLY"],
    ["ReadWriteMany", "MULTI_NODE_MULTI_WRITER", "MULTI_NODE_MULTI_WRITER"],
  ] as const;
  for (const [accessMode, plain, multiWriter] of modes) {
    it(`${accessMode}: ${plain}, or ${multiWriter} if the driver distinguishes writers of a node`, () => {
      const asked = (singleNodeMultiWriter: boolean) =>
        capabilityOf(volume({ accessMode }), { singleNodeMultiWriter }, {}).access.mode;
      expect([asked(false), asked(true)]).to.deep.equal([plain, multiWriter]);
    });
  }

  it("fsType, and the PersistentVolume's mount options before those of the spec", () => {
    const asked = volume({ fsType: "xfs", mountOptions: ["discard"] }, { mountOptions: ["noatime"] });
    expect(capabilityOf(asked, { singleNodeMultiWriter: false }, {}).volume).to.deep.equal({
      kind: "mount",
      fsType: "xfs",
      mountFlags: ["discard", "noatime"],
    });
  });

  it("the group and the label that the volume is staged with", () => {
    const told = { takesGroup: true, mountGroup: 0, seLinuxLabel: "u:r:t:s0:c1,c2" };
    expect(
      capabilityOf(volume({ mountOptions: ["discard"] }), { singleNodeMultiWriter: false }, told).volume,
    ).to.deep.equal({
      kind: "mount",
      fsType: "",
      mountFlags: ["discard", 'context="u:r:t:s0:c1,c2"'],
      mountGroup: "0",
    });
  });

  it("a block device has none of them", () => {
    const asked = volume({ fsType: "xfs", mountOptions: ["discard"] }, { volumeMode: "Block" });
    const told = { mountGroup: 1, seLinuxLabel: "u:r:t:s0" };
    expect(capabilityOf(asked, { singleNodeMultiWriter: false }, told).volume).to.deep.equal({ kind: "block" });
  });
});
