import { expect } from "chai";
import { projectPersistentVolume } from "../../../../src/controller/model/storage-objects.ts";

describe("a PersistentVolume of a plugin without a CSI driver", () => {
  const project = (spec: object) => projectPersistentVolume({ metadata: { name: "pv" }, spec });

  it("is known by its member, and the message says what to do", () => {
    for (const [member, remedy] of [
      ["storageos", "copy the data"],
      ["flocker", "source.flocker"],
      ["flexVolume", "source.flexVolume"],
      ["rbd", "rbd.csi.ceph.com"],
    ] as const) {
      const projected = project({ [member]: {} });
      expect(projected?.csi).to.equal(undefined);
      expect(projected?.unusable).to.include(`is of ${member}, `).and.include(remedy);
    }
  });

  it("is none of a driver, nor one that is translated to its driver", () => {
    for (const spec of [{ csi: { driver: "d", volumeHandle: "h" } }, { portworxVolume: { volumeID: "v" } }]) {
      expect(project(spec)).not.to.have.property("unusable");
    }
  });

  it("of a kind that nobody knows is refused all the same", () => {
    expect(project({ unknown: {} })?.unusable).to.equal("is not of a CSI driver: use a volume of one");
  });
});
