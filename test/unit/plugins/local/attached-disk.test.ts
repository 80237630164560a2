import { expect } from "chai";
import type { AttachedVolume } from "../../../../src/api/types.gen.ts";
import { VolumeError } from "../../../../src/errors.ts";
import type { Disk } from "../../../../src/host/ports/disk.ts";
import type { DeviceInfo } from "../../../../src/host/ports/host-ports.ts";
import type { StageContext, VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { refuseAttached } from "../../../../src/plugins/local/attached-disk.ts";
import { format } from "../../../../src/plugins/local/local-device.ts";
import { diskOfVolume } from "../../../../src/plugins/local/local-disk.ts";
import { LayeredStaging } from "../../../../src/plugins/local/local-layers.ts";
import { tearDownDataOf, uuidOf } from "../../../../src/plugins/local/local-teardown.ts";

const volume: AttachedVolume = {
  volumeAttachment: "csi-1",
  driver: "ebs.csi.aws.com",
  volumeHandle: "vol-0a1b2c3d4e5f",
  persistentVolume: "pvc-7",
};
const diskOf = (name: string, serial: string, sequence: string): Disk => ({
  ...{ name, deviceNumber: `8:${sequence}`, sizeBytes: 1024, identity: serial, lastingName: serial, serial },
  ...{ rotational: false, transport: "nvme", ids: [], sequence },
});
const disks = [diskOf("sda", "vol0a1b2c3d4e5f", "0"), diskOf("sdb", "OWN-1", "16")];
const spec = { source: { local: { path: "/dev/sda" } } } as VolumeSpec;

/** The answer of the controller is made up. */
function contextOf(answer: readonly AttachedVolume[] | undefined, more: Partial<StageContext> = {}) {
  const asked: string[] = [];
  const counts: boolean[] = [];
  const attachedVolumes = async (seen: readonly string[], { counted }: { readonly counted: boolean }) => {
    asked.push(...seen);
    counts.push(counted);
    if (answer === undefined) throw new VolumeError("DiskNotCompared", "transient", "it waits");
    return answer;
  };
  const devices = {
    disks: async () => disks,
    probe: async ({ path }: { path: string }) => ({
      ...{ path, empty: true, identity: disks.find(({ name }) => path.endsWith(name))?.identity },
    }),
  };
  const context = {
    ...{ attachedVolumes, devices, hostRoot: "/", seenDisks: disks.map(({ serial }) => serial) },
    otherDisks: () => [],
    ...more,
  } as unknown as StageContext;
  return { context, asked, counts };
}

async function reasonOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "free",
    (error: VolumeError) => `${error.reason}: ${error.message}`,
  );
}

describe("a local device, by the VolumeAttachments of its node", () => {
  const device = { path: "/dev/sda", deviceNumber: "8:0", identity: "vol0a1b2c3d4e5f", empty: true } as DeviceInfo;
  const refused = /^DeviceBusy: \/dev\/sda1? is busy: it is attached to the node by ebs\.csi\.aws\.com as PersistentV/;

  it("is busy if one is of it, and so is a partition of it", async () => {
    const { context, asked } = contextOf([volume]);
    expect(await reasonOf(refuseAttached(spec, device, context))).to.match(refused);
    const part = { ...device, path: "/dev/sda1", deviceNumber: "8:1", beneath: ["8:0"] };
    expect(await reasonOf(refuseAttached(spec, part, context))).to.match(refused);
    expect(asked, "by what it is in this boot").to.deep.equal(Array(2).fill("vol0a1b2c3d4e5f, disk 0"));
  });

  it("is busy if one is of any disk that it is made of: multipath, RAID, a logical volume", async () => {
    const map = { path: "/dev/dm-3", deviceNumber: "253:3", identity: "map", beneath: ["8:16", "8:0"], empty: true };
    const { context, asked } = contextOf([volume]);
    expect(await reasonOf(refuseAttached(spec, map as unknown as DeviceInfo, context))).to.match(/^DeviceBusy: .*dm-3/);
    expect(asked).to.deep.equal(["vol0a1b2c3d4e5f, disk 0", "OWN-1, disk 16"]);
    const named = contextOf([{ ...volume, volumeHandle: "x", names: ["/dev/dm-3"] }]).context;
    const free = { ...map, beneath: ["8:16"] } as unknown as DeviceInfo;
    expect(await reasonOf(refuseAttached(spec, free, named)), "by its own name").to.match(/^DeviceBusy/);
    expect(await reasonOf(refuseAttached(spec, free, context))).to.equal("free");
  });

  it("is free if none is of it, as people have named it", async () => {
    const other = { ...device, path: "/dev/sdb", deviceNumber: "8:16", identity: "OWN-1" };
    const strange = { ...volume, volumeHandle: "strange" };
    expect(await reasonOf(refuseAttached(spec, other, contextOf([strange]).context))).to.equal("free");
  });

  it("waits for the answer", async () => {
    expect(await reasonOf(refuseAttached(spec, device, contextOf(undefined).context))).to.equal(
      "DiskNotCompared: it waits",
    );
  });

  it("needs none if the volume has it already, with its file system: a node boots without a controller", async () => {
    const { context, asked } = contextOf(undefined, { disk: { sizeBytes: 1024 } });
    expect(await reasonOf(refuseAttached(spec, { ...device, signature: "ext4" }, context))).to.equal("free");
    expect(asked).to.deep.equal([]);
    expect(await reasonOf(refuseAttached(spec, device, context)), "not where it is to be formatted").to.match(/^DiskN/);
    const written = refuseAttached(spec, { ...device, signature: "ext4" }, context, { writes: true });
    expect(await reasonOf(written), "not where that is replaced").to.match(/^DiskN/);
  });

  it("needs none if it is of memory, as zram is: that is empty in each boot, and formatted without a controller", async () => {
    const { context, asked } = contextOf(undefined);
    const zram = {
      path: "/dev/zram0",
      deviceNumber: "251:0",
      identity: "disk 9 of boot 1",
      sequence: "9",
      empty: true,
    };
    const memory = { ...zram, endsWithBoot: true } as DeviceInfo;
    expect(await reasonOf(refuseAttached(spec, memory, context))).to.equal("free");
    expect(await reasonOf(refuseAttached(spec, memory, context, { writes: true }))).to.equal("free");
    expect(asked).to.deep.equal([]);
  });

  it("is asked for by its number in the kernel's count, also where it is none of the disks, as NBD", async () => {
    const { context, asked, counts } = contextOf(undefined);
    const nbd = { path: "/dev/nbd0", deviceNumber: "43:0", identity: "nbd", sequence: "12", empty: true } as DeviceInfo;
    expect(await reasonOf(refuseAttached(spec, nbd, context))).to.equal("DiskNotCompared: it waits");
    const { sequence: _none, ...uncounted } = nbd;
    expect(await reasonOf(refuseAttached(spec, uncounted, context))).to.equal("DiskNotCompared: it waits");
    expect(asked).to.deep.equal(["nbd, disk 12", "nbd"]);
    expect(counts).to.deep.equal([true, false]);
  });

  it("is compared before what LUKS has opened on it is formatted, but not with a random key: a node boots", async () => {
    const formats = async (encryption: object) => {
      const source = { local: { path: "/dev/sda", encryption } };
      const { context } = contextOf(undefined, { disk: { sizeBytes: 1024 }, recordFormatting: async () => {} });
      const devices = { ...context.devices, format: async () => {} };
      const opened = { path: "/dev/dm-1", deviceNumber: "253:1", identity: "m", empty: true, beneath: ["8:0"] };
      const made = { ...context, devices, progress: () => {} } as unknown as StageContext;
      const how = { disk: undefined, readOnly: false };
      const on = opened as unknown as DeviceInfo;
      return reasonOf(format({ source, fsType: "ext4" } as unknown as VolumeSpec, on.path, on, how, made));
    };
    expect(await formats({ secretRef: { namespace: "a", name: "b" } })).to.equal("DiskNotCompared: it waits");
    expect(await formats({ randomKey: true })).to.equal("free");
  });

  it("is compared before a header that was cut off is made anew", async () => {
    const key = "0123456789abcdef0123456789abcdef";
    const encryption = { secretRef: { namespace: "a", name: "b" } };
    const local = { path: "/dev/sda", encryption };
    const formatted: string[] = [];
    const layers = {
      mapped: async () => undefined,
      openLUKS: async () => Promise.reject(new VolumeError("PassphraseRefused", "final", "no key opens it")),
      formatLUKS: async ({ path }: DeviceInfo) => void formatted.push(path),
    };
    const header = { ...device, signature: "crypto_LUKS", uuid: uuidOf({ key }), sizeBytes: 1024, empty: false };
    const { context } = contextOf(undefined, {
      ...{ disk: { sizeBytes: 1024, uuid: header.uuid }, formatting: header.identity },
      ...{ undo: tearDownDataOf({ fresh: "header" }), stagingTarget: { path: "/staging" } },
      ...{ content: [{ version: "1", data: new Map([["passphrase", Buffer.from("hush")]]) }], layers },
      ...{ record: async () => {}, recordDisk: async () => {}, progress: () => {} },
    } as unknown as Partial<StageContext>);
    const devices = { ...context.devices, probe: async () => header };
    const made = { ...context, devices } as unknown as StageContext;
    const luks = { key, fsType: "ext4", volumeMode: "Filesystem", source: { local } } as unknown as VolumeSpec;
    const found = { path: "/dev/sda", kind: "blockDevice", deviceNumber: "8:0" } as const;
    const staged = new LayeredStaging(luks, local, made).stage(async () => ({ found }));
    expect(await reasonOf(staged)).to.equal("DiskNotCompared: it waits");
    expect(formatted).to.deep.equal([]);
  });

  it("is asked for nothing by a grant of an older controller, or for what is no local volume", async () => {
    const old = contextOf([volume], { attachedVolumes: undefined }).context;
    expect(await reasonOf(refuseAttached(spec, device, old))).to.equal("free");
    const iscsi = { source: { iscsi: {} } } as VolumeSpec;
    expect(await reasonOf(refuseAttached(iscsi, device, contextOf([volume]).context))).to.equal("free");
  });

  it("is not chosen by a selector: the other one is, and nothing beside what nobody can tie to a disk", async () => {
    const asked = { transport: "nvme", empty: true } as const;
    expect((await diskOfVolume(asked, contextOf([volume]).context)).name).to.equal("sdb");
    expect(await reasonOf(diskOfVolume(asked, contextOf(undefined).context))).to.equal("DiskNotCompared: it waits");
    const strange = { ...volume, volumeHandle: "strange" };
    const none = await reasonOf(diskOfVolume(asked, contextOf([volume, strange]).context));
    expect(none).to.match(/^DiskNotFound: .*sda .*it is attached to the node.*sdb .*it may be the disk/);
    expect((await diskOfVolume({ ...asked, serial: "OWN-1" }, contextOf([strange]).context)).name).to.equal("sdb");
  });
});
