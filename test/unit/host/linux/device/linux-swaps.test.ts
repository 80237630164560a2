import { expect } from "chai";
import { VolumeError } from "../../../../../src/errors.ts";
import { LinuxSwaps } from "../../../../../src/host/linux/device/linux-swaps.ts";
import type { ProgramResult, Programs } from "../../../../../src/host/ports/programs.ts";
import type { Swap } from "../../../../../src/host/ports/swaps.ts";

const device = { path: "/host/dev/dm-3", deviceNumber: "253:3" };
const swap: Swap = { path: "/dev/dm-3", sizeBytes: 1 << 30, usedBytes: 3 << 20, priority: 0 };

/** Swap of a node, whose swapoff ends as it is told to. */
function node(end: (devices: Map<string, Swap>) => ProgramResult) {
  const devices = new Map([[device.deviceNumber, swap]]);
  const ran: string[] = [];
  const told: string[] = [];
  let tick: (() => void) | undefined;
  const programs = (who: string): Programs => ({
    identify: async (path) => (path.startsWith("/sbin/") ? path : undefined),
    async run(path, args, how) {
      ran.push(
        [
          who,
          path,
          ...args,
          ...(how?.device ? [`holds ${how.device.deviceNumber}`] : []),
          ...(how?.long ? [how.long] : []),
        ].join(" "),
      );
      tick?.();
      return end(devices);
    },
  });
  const swaps = new LinuxSwaps({
    source: { read: () => ({ devices, lost: [] }), watch: () => () => {} },
    programs: programs("soon"),
    patient: programs("late"),
    hostRoot: "/host",
    timers: {
      after(_ms, call) {
        tick = call;
        return () => {
          tick = undefined;
        };
      },
    },
  });
  return { swaps, devices, ran, told, off: () => swaps.off(device, (message) => told.push(message)) };
}
const ended = (code: number, stderr = ""): ProgramResult => ({ code, stdout: "", stderr });

describe("LinuxSwaps", () => {
  it("turns it off by the path that it was turned on by, with time, and tells how much is left", async () => {
    const { off, ran, told } = node((devices) => {
      devices.clear();
      return ended(0);
    });
    await off();
    expect(ran).to.deep.equal(["late /sbin/swapoff /dev/dm-3 readBack"]);
    expect(told).to.deep.equal(["3 MiB of /dev/dm-3 are still to be taken back into memory"]);
    await off();
    expect(ran.length, "what is off is off").to.equal(1);
  });

  it("a node without the memory for it keeps it on", async () => {
    const { off } = node(() => ended(2, "swapoff: /dev/dm-3: swapoff failed: Cannot allocate memory"));
    const error: unknown = await off().catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(VolumeError);
    expect((error as VolumeError).reason).to.equal("SwapNeeded");
  });

  it("what somebody else has turned off meanwhile is no failure", async () => {
    const { off } = node((devices) => {
      devices.clear();
      return ended(4, "swapoff: /dev/dm-3: swapoff failed: Invalid argument");
    });
    await off();
  });

  it("turns it on with the device held, by the path that the node has", async () => {
    const { swaps, ran } = node(() => ended(0));
    await swaps.on({ ...device, identity: "i" }, { priority: 5, discard: "once" });
    expect(ran).to.deep.equal(["soon /sbin/swapon -p 5 -donce /dev/dm-3 holds 253:3"]);
  });
});
