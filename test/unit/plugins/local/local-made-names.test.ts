import { expect } from "chai";
import type { DeviceAttributes, SourceInfo } from "../../../../src/host/ports/host-ports.ts";
import type { ChosenDisk } from "../../../../src/plugins/api/disk-choice.ts";
import type { StageContext, VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { hostPath as plugin } from "../../../../src/plugins/host/host-path.ts";
import { local } from "../../../../src/plugins/local/local.ts";

interface Asked {
  readonly hostPath?: boolean;
  readonly disk?: ChosenDisk;
}

describe("a local volume by a link that content makes", () => {
  const node = "/dev/sdb1";
  const identity = { device: "0:6", root: "/sdb1" };
  const info = { kind: "blockDevice", canonicalPath: node, deviceNumber: "8:17", fsType: "devtmpfs", identity };

  function stage(path: string, attached: string | undefined, { hostPath = false, disk }: Asked = {}) {
    const attributes: DeviceAttributes = { sizeBytes: 1024, lastingName: "naa.1", ...(attached && { attached }) };
    const context = {
      disk,
      recordDisk: async () => {},
      hostRoot: "/",
      mounter: { inspect: async () => info as unknown as SourceInfo },
      devices: { attributes: async () => attributes },
      table: { at: () => undefined, covering: () => undefined },
    } as unknown as StageContext;
    const source = hostPath ? { hostPath: { path, type: "BlockDevice" } } : { local: { path } };
    const spec = { source, volumeMode: "Block", mountOptions: [] } as unknown as VolumeSpec;
    return (hostPath ? plugin : local).stage(spec, context).then(
      ({ found }) => found?.deviceNumber,
      ({ reason, message }) => `${reason}: ${message}`,
    );
  }

  for (const by of [
    ...["disk/by-label/data", "disk/by-uuid/1-2", "disk/by-partlabel/data", "disk/by-partuuid/1-2"],
    ...[
      "disk/by-id/lvm-pv-uuid-1",
      "disk/by-id/dm-name-data",
      "disk/by-id/md-name-data",
      "group/volume",
      "mapper/data",
    ],
    ...["sdb", "disk/../../srv/link"],
  ]) {
    it(`${by} is not followed to a disk that others may write to`, async () => {
      const told = await stage(`/dev/${by}`, "nvme over tcp");
      expect(told).to.match(/^SourceWrongType: .*\/dev\/sdb1, which is attached by nvme over tcp.*by-id/);
      expect(await stage(`/dev/${by}`, undefined), "one of the node itself").to.equal("8:17");
      expect(await stage(`/dev/${by}`, "nvme over tcp", { hostPath: true }), "by hostPath").to.match(
        /^SourceWrongType/,
      );
    });
  }

  for (const path of [
    "/dev/disk/by-id/wwn-1",
    "/dev/disk/by-id/dm-uuid-mpath-1",
    "/dev/disk/by-path/ip-1",
    "/dev/rbd/a/b",
    "/dev/drbd/by-res/r0/0",
    "/dev/etherd/e1.1",
    "/dev/sdb1",
  ]) {
    it(`${path} is made of no content`, async () => {
      expect(await stage(path, "iscsi")).to.equal("8:17");
    });
  }

  it("is followed to the disk that the volume has on record, and to no other", async () => {
    const disk = (lastingName: string) => ({ disk: { sizeBytes: 1024, lastingName } });
    expect(await stage("/dev/disk/by-uuid/1-2", "iscsi", disk("naa.1"))).to.equal("8:17");
    expect(await stage("/dev/disk/by-uuid/1-2", "iscsi", disk("naa.2"))).to.match(/^SourceWrongType/);
  });
});

describe("a raw disk by a path", () => {
  it("keeps its disk by its name for life, and no other volume from it", async () => {
    const records: unknown[] = [];
    const identity = { device: "0:6", root: "/sdb" };
    const info = { kind: "blockDevice", canonicalPath: "/dev/sdb", deviceNumber: "8:16", fsType: "devtmpfs", identity };
    const stage = (lastingName: string | undefined, disk?: ChosenDisk) => {
      const context = {
        disk,
        hostRoot: "/",
        recordDisk: async (known: object) => void records.push(known),
        mounter: { inspect: async () => info },
        devices: { attributes: async () => ({ sizeBytes: 1024, ...(lastingName && { lastingName }) }) },
        table: { at: () => undefined, covering: () => undefined },
      } as unknown as StageContext;
      const source = { local: { path: "/dev/sdb" } };
      return local.stage({ source, volumeMode: "Block", mountOptions: [] } as unknown as VolumeSpec, context).then(
        () => "handed out",
        ({ reason }) => reason,
      );
    };
    expect(await stage("naa.1")).to.equal("handed out");
    expect(records).to.deep.equal([{ name: "sdb", sizeBytes: 1024, named: true, shared: true, lastingName: "naa.1" }]);
    expect(await stage("naa.2", { sizeBytes: 1024, lastingName: "naa.1" })).to.equal("SourceDiffers");
    expect(await stage(undefined), "without a name").to.equal("handed out");
    expect(records).to.have.length(1);
  });
});
