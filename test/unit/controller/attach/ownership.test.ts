import { expect } from "chai";
import { type OwnedVolume, ownershipOf } from "../../../../src/controller/attach/resolve-volume.ts";
import { projectCSIDriver } from "../../../../src/controller/model/storage-objects.ts";

const onceWithType: OwnedVolume = { accessModes: ["ReadWriteOnce"], fsType: "xfs" };
const byPolicy = (fsGroupPolicy?: string) =>
  projectCSIDriver({ metadata: { name: "d" }, spec: { ...(fsGroupPolicy && { fsGroupPolicy }) } });
const labels = projectCSIDriver({ metadata: { name: "d" }, spec: { fsGroupPolicy: "None", seLinuxMount: true } });

describe("ownershipOf", () => {
  // kubelet: pkg/volume/csi/csi_mounter.go, supportsFSGroup; behaviour 107.
  const groups: readonly [string, ReturnType<typeof projectCSIDriver>, OwnedVolume, boolean][] = [
    ["None: never", byPolicy("None"), onceWithType, false],
    ["File: always", byPolicy("File"), { accessModes: ["ReadWriteMany"], fsType: "" }, true],
    ["File, but read-only", byPolicy("File"), { accessModes: ["ReadWriteMany"], readOnly: true }, false],
    ["by default with a file system and ReadWriteOnce", byPolicy(), onceWithType, true],
    [
      "also where that is one of several",
      byPolicy(),
      { ...onceWithType, accessModes: ["ReadWriteMany", "ReadWriteOnce"] },
      true,
    ],
    [
      "or ReadWriteOncePod",
      byPolicy("ReadWriteOnceWithFSType"),
      { ...onceWithType, accessModes: ["ReadWriteOncePod"] },
      true,
    ],
    ["by default not without a file system", byPolicy(), { accessModes: ["ReadWriteOnce"], fsType: "" }, false],
    ["nor where no type is known", byPolicy(), { accessModes: ["ReadWriteOnce"] }, false],
    ["nor for many nodes", byPolicy(), { ...onceWithType, accessModes: ["ReadWriteMany"] }, false],
    ["nor read-only", byPolicy(), { ...onceWithType, readOnly: true }, false],
    ["a policy of a later version counts as the default", byPolicy("Sometimes"), onceWithType, true],
    ["no CSIDriver object is the default", undefined, onceWithType, true],
  ];
  for (const [title, driver, volume, expected] of groups) {
    it(`fsGroup, ${title}`, () => {
      expect(ownershipOf(driver, volume)).to.have.property("supportsFSGroup", expected);
    });
  }

  it("an SELinux label for the volume of one pod, if the driver takes one", () => {
    const alone: OwnedVolume = { accessModes: ["ReadWriteOncePod"] };
    const label = (...of: Parameters<typeof ownershipOf>) => ownershipOf(...of).seLinuxMount;
    expect(label(labels, alone)).to.equal(true);
    expect(label(labels, { accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] })).to.equal(undefined);
    expect(label(labels, { accessModes: ["ReadWriteOnce"] })).to.equal(undefined);
    expect(label(byPolicy("None"), alone)).to.equal(undefined);
  });
});
