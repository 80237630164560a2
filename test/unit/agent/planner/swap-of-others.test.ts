import { expect } from "chai";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import { VolumeError } from "../../../../src/errors.ts";
import type { DeviceInfo, SourceInfo } from "../../../../src/host/ports/host-ports.ts";
import type { Swap } from "../../../../src/host/ports/swaps.ts";
import { wanted } from "../../../lib/builders/plan-world.ts";
import { FakeAgent } from "../fake-agent.ts";

const path = "/dev/sdb";
const deviceNumber = "8:16";
const on: Swap = { path, sizeBytes: 1 << 20, usedBytes: 0, priority: 3 };
const busy = new VolumeError("DeviceBusy", "transient", `${path} is in use: swapon failed: Device or resource busy`);
const late = new VolumeError("TimedOut", "uncertain", "no answer within 30 s");

/** An agent on a node with one disk that has a swap area; `turnOn` is its swapon. */
async function nodeWithDisk(turnOn: (devices: Map<string, Swap>) => void) {
  const agent = await FakeAgent.start();
  const devices = new Map<string, Swap>();
  const read = () => ({ devices, lost: [] });
  const off: string[] = [];
  const { mounter, devices: fake, ...effects } = agent.host.effects();
  const identity = { device: "0:6", root: "/sdb" };
  const node: SourceInfo = { kind: "blockDevice", canonicalPath: path, fsType: "devtmpfs", identity, deviceNumber };
  const info: DeviceInfo = { path, deviceNumber, sizeBytes: 1 << 20, signature: "swap", empty: false };
  const swaps = {
    read,
    on: async () => turnOn(devices),
    off: async ({ deviceNumber: number }: { deviceNumber: string }) => {
      off.push(number);
      devices.delete(number);
    },
  };
  agent.host.effects = () => ({
    ...effects,
    mounter: { ...mounter, inspect: async () => node },
    devices: { ...fake, probe: async () => info },
    swaps,
  });
  Object.assign(agent.host, { swaps: { read, watch: () => () => {} } });
  let generation = 0;
  const want = async (deleting = false) => {
    generation += 1;
    await agent.want(wanted({ source: { local: { path } }, fsType: "swap", mounts: [], deleting, generation }));
    const volume = agent.plan?.volumes.get(asVolumeName("node.volume-1"));
    return {
      phase: volume?.phase,
      failure: volume?.failure,
      stage: agent.journal.records.get(asVolumeName("node.volume-1"))?.stage,
    };
  };
  return { agent, devices, off, want };
}

describe("swap that somebody else turns on", () => {
  it("while ours failed stays theirs: the record of the device is taken back", async () => {
    const { agent, devices, off, want } = await nodeWithDisk((kernel) => {
      kernel.set(deviceNumber, on);
      throw busy;
    });
    expect((await want()).stage?.deviceNumber).to.equal(undefined);
    const again = await want();
    expect(again.failure?.message).to.contain("turned on by somebody else");
    expect(again.stage?.ready).to.equal(false);
    expect((await want(true)).phase).to.equal("released");
    expect([off, [...devices.keys()]]).to.deep.equal([[], [deviceNumber]]);
    await agent.loop.stop();
  });

  it("after ours failed, too", async () => {
    const { agent, devices, off, want } = await nodeWithDisk(() => {
      throw busy;
    });
    await want();
    devices.set(deviceNumber, on);
    await want();
    expect((await want(true)).phase).to.equal("released");
    expect(off).to.deep.equal([]);
    await agent.loop.stop();
  });

  it("cannot be told from ours where it is not known what became of that: then it is on record, and goes", async () => {
    const { agent, off, want } = await nodeWithDisk((kernel) => {
      kernel.set(deviceNumber, on);
      throw late;
    });
    expect((await want()).stage?.deviceNumber).to.equal(deviceNumber);
    const again = await want();
    expect([again.failure, again.stage?.ready]).to.deep.equal([undefined, true]);
    expect((await want(true)).phase).to.equal("released");
    expect(off).to.deep.equal([deviceNumber]);
    await agent.loop.stop();
  });
});
