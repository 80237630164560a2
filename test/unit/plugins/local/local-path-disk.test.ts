import { expect } from "chai";
import type { AttachedVolume } from "../../../../src/api/types.gen.ts";
import { VolumeError } from "../../../../src/errors.ts";
import type { LogicalVolumeInfo } from "../../../../src/host/ports/block-layers.ts";
import type { DeviceInfo } from "../../../../src/host/ports/host-ports.ts";
import { type ChosenDisk, chosenOf, type KnownDisk } from "../../../../src/plugins/api/disk-choice.ts";
import type { StageContext, VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { refuseOtherVolume } from "../../../../src/plugins/local/layer-refusals.ts";
import { stageDevice } from "../../../../src/plugins/local/local-device.ts";

/** The device, its mkfs and the journal are made up. */
describe("the disk that a local volume has found by a path", () => {
  const path = "/dev/sdb";
  const now = "8:16, 1024 bytes, disk 2 of boot 2";
  const contents = "0123456789abcdef";

  /** Whether the controller has said that no other node has the disk. */
  let compared = true;
  /** What VolumeAttachments of the node name, if the controller answers that. */
  let attached: readonly AttachedVolume[] | undefined;

  /** What happens in one attempt, in order. */
  async function attempt(on: Partial<DeviceInfo>, disk?: ChosenDisk, destroy?: string): Promise<readonly string[]> {
    const events: string[] = [];
    let device = { path, deviceNumber: "8:16", sizeBytes: 1024, identity: now, empty: false, ...on } as DeviceInfo;
    const spec = {
      fsType: "ext4",
      volumeMode: "Filesystem",
      mountOptions: [],
      source: { local: { path } },
      destroyAllDataOnDevices: destroy === undefined ? [] : [destroy],
    };
    const context = {
      disk,
      recordDisk: async (known: KnownDisk, of?: string) => {
        const { lastingName = "no name", uuid = "nothing on it" } = chosenOf(known, of);
        events.push(`record ${lastingName}, ${uuid}, ${known.named ? "named" : "chosen"}`);
      },
      async requireDiskGrant(name: string) {
        events.push(`ask for ${name}`);
        if (!compared) throw new VolumeError("DiskNotCompared", "transient", name);
      },
      attachedVolumes: attached && (async () => attached),
      recordFormatting: async () => {},
      progress: () => {},
      devices: {
        disks: async () => [],
        probe: async () => device,
        async format() {
          events.push("format");
          device = { ...device, empty: false, signature: "ext4", uuid: "uuid-new" };
        },
        async wipe() {
          events.push("wipe");
          device = { ...device, empty: true };
        },
        mend: async () => void events.push("mend"),
      },
      mounter: {
        async mountFilesystem() {
          throw new VolumeError("SetUpFailed", "transient", "as far as it goes here");
        },
      },
      stagingTarget: { path: "/staging" },
      table: { at: () => undefined },
      record: async () => {},
      tableNow: async () => ({ at: () => undefined }),
    } as unknown as StageContext;
    const found = { path, kind: "blockDevice", deviceNumber: "8:16" } as const;
    await stageDevice(spec as unknown as VolumeSpec, found, context).catch((error: unknown) => {
      if (error instanceof VolumeError && error.reason !== "SetUpFailed")
        events.push(`${error.reason}: ${error.message}`);
    });
    return events;
  }

  const ext4 = { signature: "ext4", uuid: "uuid-1" } as const;
  const before = { sizeBytes: 1024, identity: "8:16, 1024 bytes, disk 1 of boot 1" };

  it("goes on record with its name before mkfs has it, and with its file system before that is mounted", async () => {
    expect(await attempt({ empty: true, lastingName: "naa.1" })).to.deep.equal([
      "record naa.1, nothing on it, named",
      "format",
      "record naa.1, uuid-new, named",
    ]);
    expect(await attempt(ext4)).to.deep.equal(["mend", "record no name, uuid-1, named"]);
  });

  it("is neither formatted, destroyed nor mounted while a VolumeAttachment is of it, and does not go on record", async () => {
    attached = [{ volumeAttachment: "csi-1", driver: "ebs.example", names: ["/dev/sdb"] }];
    const busy = /^DeviceBusy: \/dev\/sdb is busy: it is attached to the node by ebs\.example/;
    try {
      for (const [on, destroy] of [[{ empty: true }], [ext4], [{ ...ext4, contents }, `8:16@${contents}`]] as const) {
        const events = await attempt(on, undefined, destroy);
        expect(events).to.have.length(1);
        expect(events[0]).to.match(busy);
      }
      attached = [];
      expect(await attempt({ empty: true })).to.include("format");
    } finally {
      attached = undefined;
    }
  });

  it("is not destroyed while a VolumeAttachment is of it, also where the volume has had it", async () => {
    attached = [{ volumeAttachment: "csi-1", driver: "ebs.example", names: ["/dev/sdb"] }];
    try {
      const events = await attempt({ ...ext4, contents }, { ...before, uuid: "uuid-1" }, `8:16@${contents}`);
      expect(events).to.have.length(1);
      expect(events[0]).to.match(/^DeviceBusy: \/dev\/sdb is busy: it is attached/);
      const mounted = await attempt({ ...ext4, contents }, { ...before, uuid: "uuid-1" });
      expect(mounted, "but mounted, as it is its own").to.include("mend");
    } finally {
      attached = undefined;
    }
  });

  it("goes on record without its file system before that is destroyed", async () => {
    const events = await attempt({ ...ext4, contents }, { ...before, uuid: "uuid-1" }, `8:16@${contents}`);
    expect(events.slice(0, 2)).to.deep.equal(["record no name, nothing on it, named", "wipe"]);
  });

  for (const [what, on, disk, told] of [
    ["a file system with another UUID", ext4, { uuid: "uuid-2" }, /file system uuid-1 now, but was .*uuid-2/],
    ["an empty disk", { empty: true }, { uuid: "uuid-2" }, /nothing on it that has a UUID now, but was .*uuid-2/],
    [
      "another name for life",
      { ...ext4, lastingName: "naa.1" },
      { lastingName: "naa.2" },
      /naa\.1 now, but was naa\.2/,
    ],
  ] as const) {
    it(`is not exchanged for ${what} after a reboot: nothing of that is touched, whatever is to be destroyed`, async () => {
      const events = await attempt({ ...on, contents }, { ...before, ...disk }, `8:16@${contents}`);
      expect(events).to.have.length(1);
      expect(events[0])
        .to.match(/^SourceDiffers: \/dev\/sdb is /)
        .and.to.match(told);
    });
  }

  it("is asked for where other nodes may reach it, and nothing of it is touched before the controller has compared it", async () => {
    compared = false;
    const lun = { attached: "iscsi", lastingName: "naa.6001405a", contents };
    const asked = ["ask for 36001405a", "DiskNotCompared: 36001405a"];
    expect(await attempt({ ...lun, empty: true })).to.deep.equal(asked);
    expect(await attempt({ ...lun, ...ext4 }, undefined, `8:16@${contents}`)).to.deep.equal(asked);
    compared = true;
    expect(await attempt({ ...lun, empty: true })).to.include("format");
    expect(await attempt({ ...lun, lastingName: "0123" }), "by a serial number").to.not.include("ask for 0123");
  });

  it("is formatted anew in each boot where it is made of memory, as zram is", async () => {
    const nothing = "record no name, nothing on it, named";
    expect(await attempt({ empty: true, endsWithBoot: true }, before)).to.deep.equal([nothing, "format", nothing]);
  });

  it("is formatted anew in the boot in which people have emptied it", async () => {
    const events = await attempt({ empty: true }, { sizeBytes: 1024, identity: now, uuid: "uuid-1" });
    expect(events).to.include("format");
  });
});

describe("the logical volume that a volume had", () => {
  const volume = { volumeGroup: "group", logicalVolume: "data" };
  const refusal = (now: Pick<LogicalVolumeInfo, "identity"> | undefined, before: string | undefined) => {
    try {
      refuseOtherVolume(volume, now, before);
      return undefined;
    } catch (error) {
      return `${(error as VolumeError).reason}: ${(error as VolumeError).message}`;
    }
  };

  it("is neither exchanged nor made anew", () => {
    expect(refusal({ identity: "g2 v2" }, "g1 v1")).to.match(/^SourceDiffers: group\/data is another one now .*g2 v2/);
    expect(refusal(undefined, "g1 v1")).to.match(/^SourceDiffers: group\/data is not there any more/);
  });

  it("is the one of that name where nothing is on record, or no UUIDs are known", () => {
    expect([refusal({ identity: "g1 v1" }, "g1 v1"), refusal({ identity: "g1 v1" }, undefined)]).to.deep.equal([
      undefined,
      undefined,
    ]);
    expect([refusal({}, "g1 v1"), refusal(undefined, undefined)]).to.deep.equal([undefined, undefined]);
  });
});
