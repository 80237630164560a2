import { expect } from "chai";
import type { LocalVolumeSource } from "../../../../src/api/types.gen.ts";
import { VolumeError } from "../../../../src/errors.ts";
import type { DeviceInfo } from "../../../../src/host/ports/host-ports.ts";
import type { StageContext, VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { LayeredStaging } from "../../../../src/plugins/local/local-layers.ts";
import { mappingOf } from "../../../../src/plugins/local/local-teardown.ts";

/** The node, LVM and mkfs are made up. */
describe("a logical volume of ours on which mkfs has failed, and that is to grow", () => {
  const path = "/dev/dm-1";
  const left = "0123456789abcdef";
  const identityOf = (bytes: number) => `254:1, ${bytes} bytes, LVM-1`;

  async function grown(reads: string): Promise<[reason: string, formatted: number, fresh: string | undefined]> {
    const lvm = { volumeGroup: "group", logicalVolume: "data" };
    const spec = {
      key: "k",
      fsType: "xfs",
      volumeMode: "Filesystem",
      capacityBytes: "400",
      source: { local: { lvm } },
    };
    const typed = spec as unknown as VolumeSpec;
    let bytes = 100;
    let formatted = 0;
    let formatting: string | undefined = `${identityOf(bytes)}, rest ${left}`;
    let undo: StageContext["undo"] = { ...lvm, fresh: "volume" };
    const probe = async () => {
      const contents = bytes === 100 ? reads : `${reads.slice(0, -1)}0`;
      return { path, deviceNumber: "254:1", identity: identityOf(bytes), empty: false, contents } as DeviceInfo;
    };
    const context = {
      formatting,
      undo,
      stagingTarget: { path: "/staging" },
      recordFormatting: async (now: string | undefined) => {
        formatting = now;
      },
      record: async (what: { undo?: StageContext["undo"] }) => {
        undo = what.undo;
      },
      progress: () => {},
      mounter: { inspect: async () => ({}) },
      layers: {
        mapped: async () => ({ path, deviceNumber: "254:1", over: [] }),
        logicalVolume: async () => ({ sizeBytes: bytes, active: true, shown: true, tags: [mappingOf(typed)] }),
        growLogicalVolume: async (_: object, to: bigint) => {
          bytes = Number(to);
        },
      },
      devices: {
        probe,
        format: async () => {
          formatted++;
          throw new VolumeError("TimedOut", "uncertain", "killed");
        },
      },
    } as unknown as StageContext;
    const staging = new LayeredStaging(typed, spec.source.local as LocalVolumeSource, context);
    const error = await staging.stage(() => Promise.reject(new Error("no base"))).catch((thrown: unknown) => thrown);
    if (!(error instanceof VolumeError)) throw error;
    return [error.reason, formatted, undo?.["fresh"]];
  }

  it("is formatted with what mkfs has left there", async () => {
    expect(await grown(left)).to.deep.equal(["TimedOut", 1, "volume"]);
  });

  it("is not with what somebody has written there since", async () => {
    expect(await grown("fedcba9876543210")).to.deep.equal(["DeviceNotEmpty", 0, undefined]);
  });
});
