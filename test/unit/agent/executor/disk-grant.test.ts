import { expect } from "chai";
import { disksOf } from "../../../../src/agent/executor/disks.ts";
import type { ActionContext } from "../../../../src/agent/executor/operation-context.ts";
import { asIntentUID, asVolumeName, type VolumeName } from "../../../../src/agent/model/identities.ts";
import type { VolumeRecord } from "../../../../src/agent/model/volume-record.ts";
import type { Grant } from "../../../../src/api/types.gen.ts";

/** The journal is a fake. */
describe("a disk that other nodes may reach", () => {
  const record = {
    name: asVolumeName("v"),
    key: "k",
    type: "local",
    uid: asIntentUID("u"),
    generation: 1,
    targets: [],
  } as VolumeRecord;

  async function ask(grant: Partial<Grant> | undefined, before: Partial<VolumeRecord> = {}) {
    const records = new Map<VolumeName, VolumeRecord>([[record.name, { ...record, ...before }]]);
    let puts = 0;
    const put = async (now: VolumeRecord) => {
      puts++;
      records.set(asVolumeName("v"), now);
    };
    const context = { journal: { records, put } } as unknown as ActionContext;
    const answer = await disksOf(context, asVolumeName("v"), grant as Grant | undefined)
      .requireDiskGrant("36001")
      .then(
        () => "had",
        ({ reason }) => reason,
      );
    return { answer, puts, disk: records.get(asVolumeName("v"))?.sharedDisk };
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

describe("the question which volumes are attached to the node", () => {
  const volumes = [{ volumeAttachment: "csi-1", driver: "disk.example" }];

  /** The journal is a fake. */
  class Asking {
    readonly records = new Map<VolumeName, VolumeRecord>();
    ms = 0;
    epoch = 3;
    counted = true;
    /** How long an attempt takes before it asks. */
    probesMs = 0;

    async ask(grant: Partial<Grant> | undefined, ...disks: string[]): Promise<unknown> {
      const put = async (now: VolumeRecord) => void this.records.set(asVolumeName("v"), now);
      const desired = { uid: asIntentUID("u"), generation: 1, type: "local", spec: { key: "k" } };
      this.ms += 1;
      const csi = { now: () => ({ epoch: this.epoch, ms: this.ms }) };
      const context = { journal: { records: this.records, put }, desired, csi } as unknown as ActionContext;
      const { attachedVolumes } = disksOf(context, asVolumeName("v"), grant as Grant | undefined);
      this.ms += this.probesMs;
      return attachedVolumes === undefined
        ? "not asked"
        : attachedVolumes(disks, { counted: this.counted }).catch(({ reason }) => reason);
    }

    get asked(): unknown {
      return this.records.get(asVolumeName("v"))?.attachmentsAsked;
    }
  }

  it("is on record, for the status, with the disks that were there; its answer is for these", async () => {
    const asking = new Asking();
    expect(await asking.ask({ disk: "" }, "a", "b")).to.equal("DiskNotCompared");
    expect(asking.asked).to.deep.equal({ request: "3-1", disks: ["a", "b"] });
    expect(await asking.ask({ disk: "" }, "b"), "once").to.equal("DiskNotCompared");
    const grant = { disk: "", attachments: { request: "3-1", volumes } };
    expect(await asking.ask(grant, "b")).to.deep.equal(volumes);
  });

  it("is asked anew for a disk that came later: that may be of a VolumeAttachment that was made since", async () => {
    const asking = new Asking();
    await asking.ask({ disk: "" }, "a");
    const grant = { disk: "", attachments: { request: "3-1", volumes: [] } };
    expect(await asking.ask(grant, "a", "c")).to.equal("DiskNotCompared");
    expect(asking.asked).to.deep.equal({ request: "3-2", disks: ["a", "c"] });
    expect(await asking.ask(grant, "c"), "an answer to what was asked before").to.equal("DiskNotCompared");
  });

  it("is asked anew after a minute, or a start, where the kernel does not count disks", async () => {
    for (const later of [{ ms: 60_001 }, { epoch: 4 }]) {
      const asking = Object.assign(new Asking(), { counted: false });
      await asking.ask({ disk: "" }, "a");
      const grant = { disk: "", attachments: { request: "3-1", volumes: [] } };
      expect(await asking.ask(grant, "a"), "at once").to.deep.equal([]);
      Object.assign(asking, later);
      expect(await asking.ask(grant, "a"), "it may have gone and come again").to.equal("DiskNotCompared");
      expect(asking.asked).not.to.deep.include({ request: "3-1" });
    }
  });

  it("is answered where an attempt, or the controller, takes more than a minute, and the kernel does not count", async () => {
    const asking = Object.assign(new Asking(), { counted: false, probesMs: 70_000 });
    await asking.ask({ disk: "" }, "a", "b");
    const first = asking.asked as { readonly request: string };
    asking.ms += 600_000;
    expect(await asking.ask({ disk: "" }, "b", "a"), "a request that waits for its answer stays").to.equal(
      "DiskNotCompared",
    );
    expect(asking.asked).to.deep.equal(first);
    const grant = { disk: "", attachments: { request: first.request, volumes } };
    expect(await asking.ask(grant, "a", "b"), "as it was there when the attempt began").to.deep.equal(volumes);
    expect(await asking.ask(grant, "a"), "it is old for the next attempt").to.equal("DiskNotCompared");
    expect(asking.asked).not.to.deep.equal(first);
  });

  it("is asked anew by the next run of the agent, and for more disks, also before an answer", async () => {
    for (const [later, ...disks] of [
      [{ epoch: 4 }, "a"],
      [{}, "a", "c"],
    ] as const) {
      const asking = Object.assign(new Asking(), { counted: false });
      await asking.ask({ disk: "" }, "a");
      Object.assign(asking, later);
      await asking.ask({ disk: "" }, ...disks);
      expect(asking.asked).to.deep.equal({ request: `${asking.epoch}-2`, disks });
    }
  });

  it("is not asked of a controller that would not answer", async () => {
    expect(await new Asking().ask({ id: "g" }, "a")).to.equal("not asked");
    expect(await new Asking().ask(undefined, "a")).to.equal("not asked");
  });
});
