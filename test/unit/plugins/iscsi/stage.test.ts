import { expect } from "chai";
import type { ISCSIVolumeSource } from "../../../../src/api/types.gen.ts";
import { VolumeError } from "../../../../src/errors.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { FoundSource, StageContext, VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { iscsi as plugin } from "../../../../src/plugins/iscsi/iscsi.ts";
import { FakeISCSINode } from "./fake-iscsi-node.ts";

const source: ISCSIVolumeSource = { targetPortal: "10.0.0.1", iqn: "iqn.2024-01.example:a", lun: 1 };
const identity = { device: "0:5", root: "/" };

describe("what an iSCSI volume is bound or mounted from", () => {
  let node: FakeISCSINode;
  let claims: { [path: string]: string };
  let found: FoundSource | undefined;
  let done: string[];
  /** When something is mounted, the disk is another one. */
  let swapped: boolean;
  /** Disks that the controller was asked for, and whether it has said that no other node has them. */
  let asked: string[];
  let compared: boolean;

  beforeEach(() => {
    node = new FakeISCSINode();
    claims = {};
    found = undefined;
    done = [];
    swapped = false;
    asked = [];
    compared = true;
  });

  function stage(volumeMode: VolumeSpec["volumeMode"], more: Partial<ISCSIVolumeSource> = {}) {
    const { iscsi, scsi } = node;
    const numberOf = (path: string) => node.disks.find(({ name }) => path === `/dev/${name}`)?.deviceNumber;
    const mounter = {
      inspect: async ({ path }: { path: string }) => {
        const shown = { kind: "blockDevice", canonicalPath: path, fsType: "devtmpfs", identity };
        return { ...shown, deviceNumber: numberOf(path) };
      },
      makeTarget: async () => {},
      mountFilesystem: async (mount: { source: string }) => {
        done.push(`mount ${mount.source}`);
        if (swapped) node.disks = node.disks.map((disk) => ({ ...disk, lasting: "naa.another" }));
        return { mountID: 7, identity };
      },
      inspectTarget: async () => ({ mountID: 7, identity }),
      unmount: async (_target: unknown, mountID: number) => void done.push(`unmount ${mountID}`),
    };
    const devices = {
      claim: async (path: string) => claims[path],
      probe: async ({ path }: { path: string }) => ({ path, deviceNumber: numberOf(path), signature: "ext4" }),
      mend: async () => {},
      attributes: async () => ({ sizeBytes: 1, attached: "iscsi", lastingName: "naa.6001405a" }),
    };
    const context = {
      ...{ iscsi, scsi, mounter, devices, found, hostRoot: "/", table: new MountTable([]), progress: () => {} },
      requireDiskGrant: async (name: string) => {
        asked.push(name);
        if (compared === false) throw new VolumeError("DiskNotCompared", "transient", name);
      },
      ...{ stagingTarget: { prefix: "/s", path: "/s/v" }, record: async () => {}, recordFormatting: async () => {} },
    } as unknown as StageContext;
    const spec = { key: "k", nodeName: "n", source: { iscsi: { ...source, ...more } }, volumeMode, mountOptions: [] };
    return plugin.stage(spec, context);
  }
  const reasonOf = (staging: Promise<unknown>) =>
    staging.then(
      () => "none",
      ({ reason, message }: VolumeError) => reason ?? message,
    );

  it("is asked for before it is bound as it is, and not bound before the controller has compared it", async () => {
    compared = false;
    expect(await reasonOf(stage("Block"))).to.equal("DiskNotCompared");
    expect(asked).to.deep.equal(["36001405a"]);
    compared = true;
    expect(await reasonOf(stage("Block"))).to.equal("none");
  });

  it("is nobody else's when it is bound as it is; once it is bound, what a pod has made of it is", async () => {
    expect(await stage("Block")).to.deep.include({ kind: "device", deviceNumber: "8:0" });
    claims = { "/dev/sda": "/dev/sda is part of dm-0" };
    expect(await reasonOf(stage("Block"))).to.equal("DeviceBusy");
    found = { path: "/dev/sda", kind: "blockDevice", deviceNumber: "8:0" };
    expect(await reasonOf(stage("Block"))).to.equal("none");
  });

  it("is nobody else's on any of several paths, which the kernel takes for different disks", async () => {
    claims = { "/dev/sdb": "/dev/sdb is mounted" };
    found = { path: "/dev/sda", kind: "blockDevice", deviceNumber: "8:0" };
    expect(await reasonOf(stage("Filesystem", { portals: ["10.0.0.2"] }))).to.equal("DeviceBusy");
    expect(done).to.deep.equal([]);
  });

  it("is unmounted again if it became another disk right before", async () => {
    expect(await reasonOf(stage("Filesystem"))).to.equal("none");
    expect(done).to.deep.equal(["mount /dev/sda"]);
    swapped = true;
    expect(await reasonOf(stage("Filesystem"))).to.equal("DiskNotFound");
    expect(done).to.deep.equal(["mount /dev/sda", "mount /dev/sda", "unmount 7"]);
  });
});
