import { expect } from "chai";
import { asIntentUID, asVolumeName, type VolumeName } from "../../../../src/agent/model/identities.ts";
import { swapStates } from "../../../../src/agent/model/swap-states.ts";
import type { StageRecord, VolumeRecord } from "../../../../src/agent/model/volume-record.ts";
import type { SwapTable } from "../../../../src/host/ports/swaps.ts";

const record = (name: string, stage: Partial<StageRecord>): [VolumeName, VolumeRecord] => [
  asVolumeName(name),
  {
    ...{ name: asVolumeName(name), key: name, type: "local", uid: asIntentUID("u"), generation: 1, targets: [] },
    stage: { kind: "swap", path: "/dev/sdb", ready: true, options: [], ...stage },
  },
];
const records = new Map([
  record("on", { deviceNumber: "8:16" }),
  record("off", { deviceNumber: "8:32" }),
  record("rebooted", {}),
  record("mounted", { kind: "filesystem", deviceNumber: "8:16" }),
]);
const swap = { path: "/dev/sdb", sizeBytes: 1, usedBytes: 0, priority: 0 };
const states = (read: () => SwapTable) => [...swapStates(records, { read, watch: () => () => {} })].join(" ");

describe("swapStates", () => {
  it("says of each swap device on record whether the node swaps to it", () => {
    expect(states(() => ({ devices: new Map([["8:16", swap]]), lost: [] }))).to.equal("on,on off,off");
  });

  it("takes nothing for off while a name leads to no device, or the table cannot be read (law L2)", () => {
    const lost = { devices: new Map([["8:16", swap]]), lost: ["/dev/gone"] };
    expect(states(() => lost)).to.equal("on,on off,unknown");
    const unreadable = () => {
      throw new Error("EMFILE");
    };
    expect(states(unreadable)).to.equal("on,unknown off,unknown");
    expect([...swapStates(records, undefined).values()]).to.deep.equal(["unknown", "unknown"]);
  });

  it("reads nothing where there is no swap of ours", () => {
    let reads = 0;
    const read = () => {
      reads++;
      return { devices: new Map(), lost: [] };
    };
    swapStates(new Map(), { read, watch: () => () => {} });
    expect(reads).to.equal(0);
  });
});
