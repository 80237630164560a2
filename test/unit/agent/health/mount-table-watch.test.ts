import { expect } from "chai";
import { TableWatches } from "../../../../src/agent/health/mount-table-watch.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";
import { FakeHost } from "../fake-host.ts";

describe("TableWatches", () => {
  /** A fake table whose watch fails as long as there is no room. */
  function table() {
    const fake = {
      ...new FakeHost().mountTable,
      room: true,
      listeners: new Set<() => void>(),
      watch(onChange: () => void) {
        if (!fake.room) throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
        fake.listeners.add(onChange);
        return () => fake.listeners.delete(onChange);
      },
    };
    return fake;
  }
  function world() {
    const system = virtualSystem();
    const [agent, node] = [table(), table()];
    let looks = 0;
    const onChange = () => {
      looks += 1;
    };
    const watches = new TableWatches({ system, tables: { agent, node, none: undefined }, onChange });
    return { system, agent, node, watches, looks: () => looks };
  }

  it("tells of changes of each table, and of none once it has stopped", () => {
    const { agent, node, watches, looks } = world();
    watches.start();
    for (const one of [agent, node]) for (const tell of one.listeners) tell();
    expect(looks()).to.equal(2);
    expect(watches.unwatched()).to.deep.equal([]);
    watches.stop();
    expect([agent.listeners.size, node.listeners.size]).to.deep.equal([0, 0]);
  });

  it("has a table that cannot be watched looked at every ten seconds, and says so once", async () => {
    const { system, agent, node, watches, looks } = world();
    node.room = false;
    watches.start();
    expect(agent.listeners.size).to.equal(1);
    expect(watches.unwatched()).to.deep.equal(["node"]);
    await system.advance(30_000);
    expect(looks()).to.equal(3);
    expect(system.lines.filter(({ level }) => level === "warn")).to.have.lengthOf(1);
    expect(system.lines[0]?.meta).to.include({ table: "node", error: "EMFILE: too many open files" });
  });

  it("watches it once there is room, and has it looked at for what happened meanwhile", async () => {
    const { system, node, watches, looks } = world();
    node.room = false;
    watches.start();
    node.room = true;
    await system.advance(10_000);
    expect(looks()).to.equal(1);
    expect(node.listeners.size).to.equal(1);
    expect(watches.unwatched()).to.deep.equal([]);
    expect(system.lines.at(-1)?.level).to.equal("info");
    expect(system.pendingTimers).to.equal(0);
  });

  it("does not try again once it has stopped", async () => {
    const { system, node, watches, looks } = world();
    node.room = false;
    watches.start();
    watches.stop();
    await system.advance(60_000);
    expect(looks()).to.equal(0);
    expect(system.pendingTimers).to.equal(0);
  });
});
