import { expect } from "chai";
import { Journal } from "../../../../src/agent/journal/journal.ts";
import { OrphanCleanup, type ReapOutcome } from "../../../../src/agent/orphans/orphan-cleanup.ts";
import type { ReapWorld } from "../../../../src/agent/orphans/orphan-proof.ts";
import { VolumeError } from "../../../../src/errors.ts";
import type { MountEntry } from "../../../../src/host/mount-table/mountinfo.ts";
import { dead, kubeletDir, orphanOf, pod, podMount, reapWorld } from "../../../lib/builders/reap-world.ts";
import { settle, virtualSystem } from "../../kube/virtual-system.ts";
import { FakeJournalFile } from "../journal/fake-journal-file.ts";

const graceMs = 600_000;

async function world(options: { graceMs?: number; file?: FakeJournalFile } = {}) {
  const system = virtualSystem();
  const file = options.file ?? new FakeJournalFile();
  const journal = await Journal.open(file, "boot-1", system.log);
  const state = {
    mounts: [podMount] as readonly MountEntry[],
    shown: [podMount] as readonly MountEntry[],
    more: {} as Partial<ReapWorld>,
    alive: Number.POSITIVE_INFINITY as number | string,
    childAlive: false,
    looks: 0,
    gathered: 0,
    onGather: () => {},
    onRemove: async (_onChild: (child: { pid: number; startTime: number }) => Promise<void>) => {},
  };
  const log: string[] = [];
  const told: ReapOutcome[] = [];
  const orphanCleanup = new OrphanCleanup({
    ...{ system, journal, kubeletDir, graceMs: options.graceMs ?? graceMs },
    life: {
      look: async () => {
        state.looks += 1;
      },
      get alive() {
        return state.alive;
      },
    },
    evidence: { alive: async () => state.childAlive },
    gather: async () => {
      state.gathered += 1;
      state.onGather();
      const found = state.mounts.map((mount) => ({ ...orphanOf(mount), message: "", remedy: "" }));
      return { world: reapWorld(state.mounts, { alive: state.alive, graceMs, ...state.more }), found };
    },
    remove: async ({ mount }, onChild) => {
      log.push(`${[...journal.reaps.keys()].length} written down, removes ${mount.id}`);
      await state.onRemove(onChild);
      state.mounts = state.mounts.filter(({ id }) => id !== mount.id);
    },
    told: (outcome) => told.push(outcome),
  });
  const look = async (ms = 0) => {
    await system.advance(ms);
    const judged = orphanCleanup.judge(state.shown.map((mount) => orphanOf(mount)));
    for (let i = 0; i < 30; i += 1) await settle();
    return judged;
  };
  return { system, file, journal, state, log, told, orphanCleanup, look };
}

describe("OrphanCleanup", () => {
  it("says when, removes what is due and proved, writes it down before, and tells", async () => {
    const { state, log, told, look, file, journal } = await world();
    const [first] = (await look()).orphans;
    expect(first).to.include({ reapAt: "2023-11-14T22:23:20Z" });
    expect(await look(graceMs - 1)).to.include({ againInMs: 20_000 });
    expect([log, state.gathered], "nobody is asked before").to.deep.equal([[], 0]);
    await look(1);
    expect(log).to.deep.equal(["1 written down, removes 41"]);
    expect(told.map(({ record, error }) => [record.path, error])).to.deep.equal([[podMount.point, undefined]]);
    expect([journal.reaps.size, file.text], "no line that an older agent does not take").to.satisfy(
      ([size, text]: [number, string]) => size === 0 && !text.includes("reap"),
    );
  });

  it("removes nothing unless it is told to, and says so", async () => {
    const { state, look, log } = await world({ graceMs: 0 });
    const [orphan] = (await look(10 * graceMs)).orphans;
    expect(orphan?.keptBecause).to.contain("--reap-orphans-grace-period");
    await look(10 * graceMs);
    expect([log, state.gathered, state.looks]).to.deep.equal([[], 0, 0]);
  });

  it("waits anew for what was no orphan in between, and for another mount on the path", async () => {
    const { state, look, log } = await world();
    await look();
    state.shown = [];
    await look(graceMs / 2);
    state.shown = [podMount];
    await look(graceMs / 2);
    await look(graceMs / 2);
    state.shown = state.mounts = [{ ...podMount, id: 99 }];
    await look(graceMs / 2);
    expect(log).to.deep.equal([]);
    await look(graceMs);
    expect(log).to.deep.equal(["1 written down, removes 99"]);
  });

  it("keeps what is not proved, says why, and looks again in two minutes", async () => {
    const { state, look, log } = await world();
    await look();
    state.more = { pods: [pod(), pod({ uid: dead, name: "team/back", phase: "Pending" })] };
    await look(graceMs);
    expect((await look()).orphans[0]?.keptBecause).to.contain("team/back");
    const { gathered } = state;
    state.more = {};
    await look(119_999);
    expect(state.gathered).to.equal(gathered);
    await look(1);
    expect(log.length).to.equal(1);
  });

  it("keeps it if what was proved is not so any more once that is written down", async () => {
    const { state, look, log, told, journal } = await world();
    await look();
    state.onGather = () => {
      if (state.gathered === 2) state.more = { cgroups: new Set([dead, "11111111-0000-4000-8000-000000000001"]) };
    };
    await look(graceMs);
    expect([log, told, journal.reaps.size]).to.deep.equal([[], [], 0]);
    expect((await look()).orphans[0]?.keptBecause).to.equal("the pod has a cgroup");
  });

  it("removes nothing that is no orphan by what is read now", async () => {
    const { state, look, log } = await world();
    await look();
    state.mounts = [];
    await look(graceMs);
    expect(log).to.deep.equal([]);
    expect((await look()).orphans[0]?.keptBecause).to.equal("it is no orphan any more");
  });

  it("asks nobody while kubelet is not alive, and goes on when it has been", async () => {
    const { state, look, log } = await world();
    await look();
    state.alive = "kubelet may be down";
    await look(graceMs);
    expect((await look(20_000)).orphans[0]?.keptBecause).to.equal("kubelet may be down");
    expect(state.gathered).to.equal(0);
    state.alive = graceMs;
    await look(20_000);
    expect(log.length).to.equal(1);
  });

  it("removes nothing if the journal cannot be written, or anything cannot be read", async () => {
    const { state, look, log, file } = await world();
    await look();
    file.failNext = true;
    await look(graceMs);
    expect(log).to.deep.equal([]);
    state.onGather = () => {
      throw new Error("403 Forbidden");
    };
    await look(120_000);
    expect(log).to.deep.equal([]);
    expect((await look()).orphans[0]?.keptBecause).to.equal("403 Forbidden");
  });

  it("tells once of what cannot be removed, until it is another error", async () => {
    const { state, look, told, journal } = await world();
    await look();
    let message = "in use by pid 7";
    state.onRemove = async () => {
      throw new VolumeError("TargetBusy", "transient", message);
    };
    await look(graceMs);
    await look(120_000);
    expect(told.map(({ error }) => error?.message)).to.deep.equal(["in use by pid 7"]);
    expect(journal.reaps.size).to.equal(0);
    message = "in use by pid 8";
    await look(120_000);
    expect(told.map(({ error }) => error?.message)).to.deep.equal(["in use by pid 7", "in use by pid 8"]);
  });

  it("begins no second time while a child of the first hangs, also of the agent before, and then looks anew", async () => {
    const before = await world();
    await before.look();
    before.state.onRemove = async (onChild) => {
      await onChild({ pid: 7, startTime: 1 });
      throw new VolumeError("OperationAbandoned", "uncertain", "it hangs");
    };
    await before.look(graceMs);
    expect([...before.journal.reaps.values()].map(({ child }) => child?.pid)).to.deep.equal([7]);

    const after = await world({ file: before.file });
    after.state.childAlive = true;
    await after.look();
    await after.look(graceMs);
    expect(after.log).to.deep.equal([]);
    expect((await after.look()).orphans[0]?.keptBecause).to.contain("has not ended");
    after.state.childAlive = false;
    await after.look(120_000);
    expect(after.log).to.deep.equal(["1 written down, removes 41"]);
  });

  it("forgets after a reboot what was being removed before", async () => {
    const { file, journal, system } = await world();
    const record = { path: "/p", kind: "PodMount", mountID: 1, source: "", proof: "" } as const;
    await journal.putReap("/p", record);
    expect((await Journal.open(file, "boot-1", system.log)).reaps.get("/p")).to.deep.equal(record);
    expect((await Journal.open(file, "boot-2", system.log)).reaps.size).to.equal(0);
  });

  it("begins nothing more once it is stopped, and waits for what runs", async () => {
    const { state, orphanCleanup, look, log } = await world();
    state.shown = state.mounts = [podMount, { ...podMount, id: 42, point: podMount.point.replace("pv-1", "pv-2") }];
    await look();
    const { promise, resolve } = Promise.withResolvers<void>();
    state.onRemove = () => promise;
    await look(graceMs);
    let ended = false;
    const stopped = orphanCleanup.stop().then(() => {
      ended = true;
    });
    await settle();
    expect(ended).to.equal(false);
    resolve();
    await stopped;
    await look(graceMs);
    expect(log.length).to.equal(1);
  });
});
