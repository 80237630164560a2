import { expect } from "chai";
import { VolumeError } from "../../../src/errors.ts";
import type { DeviceInfo } from "../../../src/host/ports.ts";
import { format } from "../../../src/plugins/local-device.ts";
import type { StageContext, VolumeSpec } from "../../../src/plugins/plugin.ts";

describe("an mkfs that ended by itself", () => {
  async function recorded(unfinished: boolean): Promise<(string | undefined)[]> {
    const records: (string | undefined)[] = [];
    const context = {
      formatting: "device 1",
      ...(unfinished && { unfinished }),
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
    expect(await recorded(false)).to.deep.equal(["device 1", undefined]);
  });

  it("leaves a new layer of ours what it was: never finished (decision 0053)", async () => {
    expect(await recorded(true)).to.deep.equal(["device 1"]);
  });
});
