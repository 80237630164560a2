import { expect } from "chai";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import type { VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import { VolumeError } from "../../../src/errors.ts";
import type { OperationContext } from "../../../src/host/ports/host-ports.ts";
import { record, wanted } from "../../lib/builders/plan-world.ts";
import { settle } from "../kube/virtual-system.ts";
import { at, FakeAgent, held, stagingOf } from "./fake-agent.ts";

describe("Loop", () => {
  let agent: FakeAgent;
  beforeEach(async () => {
    agent = await FakeAgent.start();
  });
  afterEach(() => agent.loop.stop());

  it("looks when something has happened, once for calls that come together, and else once a minute", async () => {
    await agent.look();
    const before = agent.host.reads;
    for (let i = 0; i < 50; i += 1) agent.loop.trigger();
    await settle();
    expect(agent.host.reads - before, "one that ran already, and one for all the others").to.be.at.most(2);
    const quiet = agent.host.reads;
    await agent.system.advance(59_000);
    expect(agent.host.reads).to.equal(quiet);
    await agent.system.advance(1_000);
    expect(agent.host.reads).to.equal(quiet + 1);
  });

  it("plans anew what the journal has come to say of a volume, whoever wrote it", async () => {
    await agent.look();
    await agent.journal.put(record());
    await agent.look();
    expect([...(agent.plan?.changed.keys() ?? [])]).to.deep.equal([record().name]);
  });

  it("forgets what an intent that is gone has seen of its source", async () => {
    const source = { hostPath: { path: "/data" } };
    await agent.want(wanted({ name: "seen", mode: "Observe", source }));
    expect([...agent.observed.keys()]).to.deep.equal(["seen"]);
    await agent.want();
    expect([...agent.observed.keys()]).to.deep.equal([]);
  });

  it("does one step of a volume after the other, and different volumes side by side", async () => {
    const { promise, release } = held();
    const running = new Set<string>();
    const together: string[] = [];
    agent.host.before = async (call) => {
      const volume = call.includes("slow") ? "slow" : "fast";
      if (running.has(volume)) together.push(call);
      running.add(volume);
      await (call === `mountFilesystem ${stagingOf("slow")}` ? promise : settle());
      running.delete(volume);
    };
    const two = (name: string) => wanted({ name, mounts: [{ path: `/mnt/${name}-a` }, { path: `/mnt/${name}-b` }] });
    await agent.want(two("slow"), two("fast"));
    for (let i = 0; i < 10; i += 1) await agent.look();
    expect(agent.mounted.sort()).to.deep.equal(["/mnt/fast-a", "/mnt/fast-b"]);
    expect(agent.plan?.volumes.get(asVolumeName("slow"))?.running).to.equal("stage");
    expect(agent.host.calls.filter((call) => call.includes("slow"))).to.have.length(1);
    release();
    await agent.look();
    expect(agent.mounted).to.have.length(4);
    expect(together, "two calls of one volume at a time").to.deep.equal([]);
  });

  it("sets the flags again of a mount that somebody has remounted, once", async () => {
    await agent.want(at("a"));
    const remounted = ["ro", "relatime"];
    agent.host.entries = agent.host.entries.map((mount) =>
      mount.point === "/mnt/a" ? { ...mount, options: remounted } : mount,
    );
    await agent.look();
    await agent.look();
    const calls = agent.host.calls.filter((call) => call.startsWith("setAttributes"));
    expect(calls).to.deep.equal(["setAttributes /mnt/a"]);
  });

  it("takes whatever a port throws as a failure, doubles the delay, and forgets it with a success", async () => {
    agent.host.before = async () => {
      throw new TypeError("a bug");
    };
    await agent.want(at("a"));
    await agent.system.advance(500);
    expect(agent.failures.map((f) => [f.attempts, f.nextAt, f.message])).to.deep.equal([
      [1, 375, "a bug"], // 250 to 500
      [2, 375 + 750, "a bug"],
    ]);
    agent.host.before = async () => {};
    await agent.system.advance(1_000);
    expect(agent.mounted).to.deep.equal(["/mnt/a"]);
    agent.host.entries = agent.host.entries.slice(0, 1);
    agent.host.before = async () => {
      throw new TypeError("again");
    };
    await agent.look();
    expect(agent.failures.at(-1)).to.include({ attempts: 1, message: "again" });
  });

  it("a process of an earlier agent that has not ended: no second operation, and in use; then it goes on", async () => {
    agent.host.alive.add(77);
    await agent.journal.put(record({ key: "node.volume-1", targets: [], child: { pid: 77, startTime: 5 } }));
    await agent.want(at("a"));
    const seen = agent.plan?.volumes.get(asVolumeName("node.volume-1"));
    expect([seen?.running, seen?.operation, seen?.actualState.inUse]).to.deep.equal(["stage", undefined, true]);
    expect(agent.host.calls).to.deep.equal([]);
    agent.host.alive.delete(77);
    await agent.system.advance(5_000);
    await agent.look();
    expect(agent.journal.records.get(asVolumeName("node.volume-1"))?.child).to.equal(undefined);
    expect(agent.mounted).to.deep.equal(["/mnt/a"]);
  });

  it("a process that has ended stays in flight while that cannot be written down, and no other volume waits for it", async () => {
    await agent.journal.put(record({ key: "node.volume-1", targets: [], child: { pid: 77, startTime: 5 } }));
    const { append, replace } = agent.host.journal;
    const full = async () => {
      throw new Error("ENOSPC");
    };
    Object.assign(agent.host.journal, { append: full, replace: full });
    await agent.want(at("a"), at("b", "other"));
    expect(agent.plan?.volumes.get(asVolumeName("node.volume-1"))?.running).to.equal("stage");
    await agent.system.advance(5_000);
    expect(agent.plan?.volumes.get(asVolumeName("other"))?.failure?.reason).to.equal("JournalFailed");
    Object.assign(agent.host.journal, { append, replace });
    await agent.system.advance(600_000);
    expect(agent.mounted.sort()).to.deep.equal(["/mnt/a", "/mnt/b"]);
  });

  it("what is written while it asks for a child is not overwritten with what was there before", async () => {
    const abandoned = { ...record({ key: "node.volume-1" }), child: { pid: 77, startTime: 5 } };
    await agent.journal.put(abandoned);
    const answer = held();
    agent.host.evidence.alive = async () => {
      await answer.promise;
      return false;
    };
    await agent.look();
    await agent.journal.put({ ...abandoned, generation: 9 });
    const written: VolumeRecord[] = [];
    const put = agent.journal.put.bind(agent.journal);
    agent.journal.put = (record) => {
      written.push(record);
      return put(record);
    };
    answer.release();
    await agent.look();
    const { child: _ended, ...rest } = abandoned;
    expect(written).to.deep.equal([{ ...rest, generation: 9 }]);
  });

  it("an operation that ends while the table is read is not judged by a table that is older than its record", async () => {
    const [binding, reading] = [held(), held()];
    agent.host.before = (call) => (call.startsWith("bind") ? binding.promise : Promise.resolve());
    await agent.want(at("a"));
    const { mountTable } = agent.host;
    const read = mountTable.read;
    mountTable.read = async () => {
      const table = await read();
      mountTable.read = read; // only this look has the old table
      await reading.promise;
      return table;
    };
    await agent.look(); // takes a table without the mount
    binding.release();
    for (let i = 0; i < 20; i += 1) await settle();
    reading.release();
    await agent.look();
    expect(agent.mounted).to.deep.equal(["/mnt/a"]);
    expect(agent.host.calls.filter((call) => call === "bind /mnt/a")).to.have.length(1);
    expect(agent.journal.records.get(asVolumeName("node.volume-1"))?.targets[0]?.mountID).to.be.a("number");
  });

  it("a look at a source that hangs is not begun again while its process is there", async () => {
    let looks = 0;
    agent.host.alive.add(77);
    const effects = agent.host.effects.bind(agent.host);
    agent.host.effects = (operation?: OperationContext) => {
      const { mounter, ...others } = effects();
      const inspect = async () => {
        looks += 1;
        await operation?.onChild({ pid: 77, startTime: 5 });
        throw new VolumeError("OperationAbandoned", "uncertain", "it hangs");
      };
      return { mounter: { ...mounter, inspect }, ...others };
    };
    const source = { hostPath: { path: "/x", type: "Directory" } } as const;
    await agent.want(wanted({ mode: "Observe", source, mounts: [{ path: "/mnt/a" }] }));
    await agent.system.advance(600_000);
    expect([looks, agent.operations.abandoned]).to.deep.equal([1, 1]);
    agent.host.alive.delete(77);
    await agent.system.advance(6_000);
    expect(looks).to.be.greaterThan(1);
  });

  it("looks at a source less often once it has shown the same twice, and soon again when it has changed", async () => {
    const looks: number[] = [];
    let shown = "/x";
    const effects = agent.host.effects.bind(agent.host);
    agent.host.effects = () => {
      const { mounter, ...others } = effects();
      const inspect: typeof mounter.inspect = async () => {
        looks.push(agent.system.clock.monotonic() / 60_000);
        const identity = { device: "8:1", root: shown };
        return { kind: "directory", canonicalPath: shown, fsType: "ext4", identity };
      };
      return { mounter: { ...mounter, inspect }, ...others };
    };
    const source = { hostPath: { path: "/x", type: "Directory" } } as const;
    await agent.want(wanted({ mode: "Observe", source, mounts: [{ path: "/mnt/a" }] }));
    await agent.system.advance(11.5 * 60_000);
    expect(looks).to.deep.equal([0, 1, 6, 11]);
    shown = "/y";
    await agent.system.advance(6.5 * 60_000);
    expect(looks.slice(4)).to.deep.equal([16, 17]);
  });

  it("starts nothing while the table cannot be read, and looks again after a second", async () => {
    agent.host.readable = false;
    await agent.want(at("a"));
    expect(agent.host.calls).to.deep.equal([]);
    agent.host.readable = true;
    await agent.system.advance(1_000);
    await agent.look();
    expect(agent.mounted).to.deep.equal(["/mnt/a"]);
  });

  it("repairs what somebody unmounted, as soon as it is told that the table has changed", async () => {
    await agent.want(at("a"));
    agent.host.unmountAt("/mnt/a");
    await agent.look();
    expect(agent.mounted).to.deep.equal(["/mnt/a"]);
    expect(agent.host.calls.filter((call) => call === "bind /mnt/a")).to.have.length(2);
  });
});
