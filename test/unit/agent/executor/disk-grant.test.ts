import { expect } from "chai";
import { disksOf } from "../../../../src/agent/executor/disks.ts";
import type { ActionContext } from "../../../../src/agent/executor/operation-context.ts";
import type { VolumeRecord } from "../../../../src/agent/model/volume-record.ts";
import type { Grant } from "../../../../src/api/types.gen.ts";

/** The journal is a fake. */
describe("a disk that other nodes may reach", () => {
  const record = { name: "v", key: "k", type: "local", uid: "u", generation: 1, targets: [] } as VolumeRecord;

  async function ask(grant: Partial<Grant> | undefined, before: Partial<VolumeRecord> = {}) {
    const records = new Map<string, VolumeRecord>([["v", { ...record, ...before }]]);
    let puts = 0;
    const put = async (now: VolumeRecord) => {
      puts++;
      records.set("v", now);
    };
    const context = { journal: { records, put } } as unknown as ActionContext;
    const answer = await disksOf(context, "v", grant as Grant | undefined)
      .requireDiskGrant("36001")
      .then(
        () => "had",
        ({ reason }) => reason,
      );
    return { answer, puts, disk: records.get("v")?.sharedDisk };
  }

  it("is on record, for the status, before it is waited for", async () => {
    expect(await ask({ id: "g", disk: "" })).to.deep.equal({ answer: "DiskNotCompared", puts: 1, disk: "36001" });
    const before = { sharedDisk: "36002" };
    expect(await ask({ id: "g", disk: "" }, before)).to.include({ answer: "DiskNotCompared", disk: "36001" });
  });

  it("is not exchanged for another, as the one that the volume was given may be in use still", async () => {
    const before = { sharedDisk: "36002" };
    const answer = { answer: "SourceDiffers", puts: 0, disk: "36002" };
    expect(await ask({ id: "g", disk: "36002" }, before)).to.deep.equal(answer);
  });

  it("is had once the grant names it, and by a grant of a controller that compares nothing", async () => {
    expect(await ask({ id: "g", disk: "36001" }, { sharedDisk: "36001" })).to.include({ answer: "had", puts: 0 });
    expect(await ask({ id: "g" })).to.deep.equal({ answer: "had", puts: 1, disk: "36001" });
  });
});
