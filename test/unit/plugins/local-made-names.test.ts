import { expect } from "chai";
import type { DeviceInfo, SourceInfo } from "../../../src/host/ports.ts";
import { local } from "../../../src/plugins/local.ts";
import type { StageContext, VolumeSpec } from "../../../src/plugins/plugin.ts";

describe("a local volume by a link that content makes", () => {
  const node = "/dev/sdb1";
  const identity = { device: "0:6", root: "/sdb1" };
  const info = { kind: "blockDevice", canonicalPath: node, deviceNumber: "8:17", fsType: "devtmpfs", identity };

  function stage(path: string, attached: string | undefined) {
    const device: Partial<DeviceInfo> = { path: node, ...(attached !== undefined && { attached }) };
    const context = {
      hostRoot: "/",
      mounter: { inspect: async () => info as unknown as SourceInfo },
      devices: { probe: async () => device },
      table: { at: () => undefined, covering: () => undefined },
    } as unknown as StageContext;
    const spec = { source: { local: { path } }, volumeMode: "Block", mountOptions: [] } as unknown as VolumeSpec;
    return local.stage(spec, context).then(
      ({ deviceNumber }) => deviceNumber,
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
    });
  }

  for (const path of [
    "/dev/disk/by-id/wwn-1",
    "/dev/disk/by-id/dm-uuid-mpath-1",
    "/dev/disk/by-path/ip-1",
    "/dev/rbd/a/b",
    "/dev/sdb1",
  ]) {
    it(`${path} is made of no content`, async () => {
      expect(await stage(path, "iscsi")).to.equal("8:17");
    });
  }
});
