import { expect } from "chai";
import { VolumeError } from "../../../../src/errors.ts";
import type { DeviceInfo } from "../../../../src/host/ports/host-ports.ts";
import type { StageContext, VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { format, stageDevice } from "../../../../src/plugins/local/local-device.ts";

describe("an mkfs that ended by itself", () => {
  async function recorded(unfinished: boolean): Promise<(string | undefined)[]> {
    const records: (string | undefined)[] = [];
    const context = {
      formatting: "device 1",
      ...(unfinished && { unfinished: "header" }),
      recordFormatting: async (device: string | undefined) => void records.push(device),
      progress: () => {},
      devices: {
        async format() {
          throw new VolumeError("FormatFailed", "final", "mkfs.xfs: Filesystem must be larger than 300MB");
        },
      },
    } as unknown as StageContext;
    const device = { path: "/dev/dm-1", identity: "device 1", empty: false } as DeviceInfo;
    const spec = { fsType: "xfs", source: { local: { path: "/dev/sdb" } } } as unknown as VolumeSpec;
    const how = { disk: undefined, readOnly: false };
    await format(spec, device.path, device, how, context).catch((error: VolumeError) => {
      if (error.reason !== "FormatFailed") throw error;
    });
    return records;
  }

  it("leaves no licence on a disk (decision 0013)", async () => {
    expect(await recorded(false)).to.deep.equal(["device 1, rest nothing", "device 1", undefined]);
  });

  it("leaves a new layer of ours what it was: never finished (decision 0053)", async () => {
    expect(await recorded(true)).to.deep.equal(["device 1"]);
  });
});

describe("the licence of an mkfs that was cut off (decision 0013), on a made device", () => {
  const identity = "8:16, 1024 bytes, disk 1";
  const rest = "0123456789abcdef";
  const changed = "fedcba9876543210";
  const spec = { fsType: "xfs", volumeMode: "Filesystem", source: { local: { path: "/dev/sdb" } } };

  /** One attempt; what is on record is `formatting`, and is kept in it. */
  class Attempts {
    formatting: string | undefined = identity;
    device: Partial<DeviceInfo> = { contents: rest };
    failsWith: Error | undefined = new VolumeError("SetUpFailed", "transient", "no program could be started");
    formatted = 0;
    unfinished: StageContext["unfinished"];
    /** What mkfs leaves on the device. */
    leaves: string | undefined;
    /** The device does not answer once mkfs had it. */
    silent = false;
    /** Who has opened the device while mkfs was at work. */
    opened: Partial<DeviceInfo> = {};

    async next(): Promise<string> {
      const { formatting } = this;
      const looked = () => ({ ...made, ...this.device }) as DeviceInfo;
      const made = { path: "/dev/sdb", deviceNumber: "8:16", identity, empty: false };
      const context = {
        formatting,
        unfinished: this.unfinished,
        recordFormatting: async (now: string | undefined) => {
          this.formatting = now;
        },
        recordDisk: async () => {},
        progress: () => {},
        devices: {
          probe: async () => {
            if (this.silent && this.formatted > 0) throw new VolumeError("TimedOut", "uncertain", "no answer");
            return looked();
          },
          format: async () => {
            this.formatted++;
            if (this.leaves !== undefined) this.device = { contents: this.leaves };
            this.device = { ...this.device, ...this.opened };
            if (this.failsWith !== undefined) throw this.failsWith;
          },
        },
      } as unknown as StageContext;
      const found = { path: "/dev/sdb", kind: "blockDevice", deviceNumber: "8:16" } as const;
      const error = await stageDevice(spec as unknown as VolumeSpec, found, context).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      return error instanceof VolumeError ? error.reason : "other";
    }
  }

  it("lets mkfs begin again on the rest as it was at the first look, also after a refusal that never had the device", async () => {
    const attempts = new Attempts();
    expect([await attempts.next(), await attempts.next()]).to.deep.equal(["SetUpFailed", "SetUpFailed"]);
    expect([attempts.formatted, attempts.formatting]).to.deep.equal([2, `${identity}, rest ${rest}`]);
  });

  it("is for a rest of any content once mkfs was cut off again", async () => {
    const attempts = new Attempts();
    attempts.failsWith = new VolumeError("TimedOut", "uncertain", "killed");
    attempts.leaves = changed;
    await attempts.next();
    expect([await attempts.next(), attempts.formatted]).to.deep.equal(["TimedOut", 2]);
  });

  it("is for what a killed mkfs has left, and for nothing that is written from then on", async () => {
    const attempts = new Attempts();
    attempts.failsWith = new VolumeError("TimedOut", "uncertain", "killed");
    attempts.leaves = changed;
    await attempts.next();
    expect(attempts.formatting, "looked at at once").to.equal(`${identity}, rest ${changed}`);
    attempts.device = { contents: rest };
    expect([await attempts.next(), attempts.formatted]).to.deep.equal(["DeviceNotEmpty", 1]);
  });

  it("is looked at by the next attempt where an mkfs was not seen to end, or the device does not answer", async () => {
    for (const [reason, silent] of [
      ["OperationAbandoned", false],
      ["TimedOut", true],
    ] as const) {
      const attempts = new Attempts();
      attempts.failsWith = new VolumeError(reason, "uncertain", "killed");
      attempts.silent = silent;
      await attempts.next();
      expect(attempts.formatting).to.equal(identity);
    }
  });

  it("ends where somebody who may write has the device when its mkfs was killed", async () => {
    const attempts = new Attempts();
    attempts.failsWith = new VolumeError("TimedOut", "uncertain", "killed");
    attempts.opened = { busy: "/dev/sdb is open: qemu (7)" };
    await attempts.next();
    expect(attempts.formatting).to.equal(undefined);
    attempts.opened = { busy: "/dev/sdb is open: smartd (7)", allowsMount: true };
    attempts.formatting = identity;
    attempts.device = { contents: rest };
    await attempts.next();
    expect(attempts.formatting, "who only reads").to.equal(`${identity}, rest ${rest}`);
  });

  it("ends where something else is read than at the first look", async () => {
    const attempts = new Attempts();
    await attempts.next();
    attempts.device = { contents: changed };
    expect([await attempts.next(), await attempts.next()]).to.deep.equal(["DeviceNotEmpty", "DeviceNotEmpty"]);
    expect([attempts.formatted, attempts.formatting]).to.deep.equal([1, undefined]);
  });

  it("ends when somebody who may write has the device, before the first look or after it", async () => {
    for (const looks of [0, 1]) {
      const attempts = new Attempts();
      for (let look = 0; look < looks; look++) await attempts.next();
      attempts.device = { contents: rest, busy: "/dev/sdb is open: qemu (7)" };
      expect(await attempts.next()).to.equal("DeviceBusy");
      attempts.device = { contents: rest };
      expect([await attempts.next(), attempts.formatted]).to.deep.equal(["DeviceNotEmpty", looks]);
    }
  });

  it("stays while somebody only reads the device", async () => {
    const attempts = new Attempts();
    attempts.device = { contents: rest, busy: "/dev/sdb is open: smartd (7)", allowsMount: true };
    expect([await attempts.next(), attempts.formatting]).to.deep.equal(["DeviceBusy", identity]);
  });

  it("on a volume of ours is for what an mkfs that failed has left there, and nothing that is written later", async () => {
    const attempts = new Attempts();
    attempts.unfinished = "volume";
    attempts.failsWith = new VolumeError("FormatFailed", "final", "mkfs.xfs: Filesystem must be larger than 300MB");
    attempts.leaves = changed;
    expect([await attempts.next(), await attempts.next()]).to.deep.equal(["FormatFailed", "FormatFailed"]);
    attempts.device = { contents: rest };
    expect([await attempts.next(), attempts.formatted]).to.deep.equal(["DeviceNotEmpty", 2]);
  });

  it("on a volume of ours ends with who may write to it when its mkfs fails, and not with who only reads", async () => {
    const failed = new VolumeError("FormatFailed", "final", "mkfs.xfs: Filesystem must be larger than 300MB");
    for (const allowsMount of [false, true]) {
      const attempts = new Attempts();
      [attempts.unfinished, attempts.failsWith, attempts.leaves] = ["volume", failed, changed];
      attempts.opened = { busy: "/dev/sdb is open: somebody (7)", ...(allowsMount && { allowsMount }) };
      await attempts.next();
      expect(attempts.formatting).to.equal(allowsMount ? `${identity}, rest ${changed}` : undefined);
    }
  });

  it("on a volume of ours that does not answer after mkfs has failed is looked at later, and the mkfs is told of", async () => {
    const attempts = new Attempts();
    attempts.unfinished = "volume";
    attempts.failsWith = new VolumeError("FormatFailed", "final", "mkfs.xfs: Filesystem must be larger than 300MB");
    attempts.silent = true;
    expect([await attempts.next(), attempts.formatting]).to.deep.equal(["FormatFailed", identity]);
  });

  for (const reason of ["DeviceBusy", "DeviceNotEmpty"] as const) {
    it(`ends when mkfs is refused with ${reason} on the descriptor that it gets`, async () => {
      const attempts = new Attempts();
      attempts.failsWith = new VolumeError(reason, "transient", "not any more");
      expect([await attempts.next(), await attempts.next()]).to.deep.equal([reason, "DeviceNotEmpty"]);
      expect([attempts.formatted, attempts.formatting]).to.deep.equal([1, undefined]);
    });
  }
});
