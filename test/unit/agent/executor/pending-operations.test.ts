import { expect } from "chai";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import { record } from "../../../lib/builders/plan-world.ts";
import { at, FakeAgent, held } from "../fake-agent.ts";

const name = asVolumeName("node.volume-1");
const child = { pid: 77, startTime: 5 };

describe("what is in flight", () => {
  it("forgets no other child than the one that was asked for", async () => {
    const agent = await FakeAgent.start();
    await agent.journal.put({ ...record({ key: name }), child });
    const answer = held();
    agent.host.evidence.alive = async ({ pid }) => {
      await answer.promise;
      return pid === 78;
    };
    await agent.look();
    const next = { pid: 78, startTime: 9 };
    await agent.journal.put({ ...record({ key: name }), child: next });
    answer.release();
    await agent.look();
    expect(agent.journal.records.get(name)?.child).to.deep.equal(next);
    await agent.loop.stop();
  });

  it("begins nothing when it is told to stop while the tables are read", async () => {
    const agent = await FakeAgent.start();
    const reading = held();
    const { mountTable } = agent.host;
    const { read } = mountTable;
    mountTable.read = async () => {
      await reading.promise;
      return read();
    };
    await agent.want(at("a"));
    const stopping = agent.loop.stop();
    reading.release();
    await stopping;
    await agent.look();
    expect(agent.host.calls).to.deep.equal([]);
  });

  it("plans nothing by one table while the other cannot be read", async () => {
    const agent = await FakeAgent.start();
    const nodeTable = { read: () => Promise.reject(new Error("EIO")), watch: () => () => {} };
    Object.assign(agent.host, { nodeTable });
    await agent.want(at("a"));
    expect(agent.host.calls).to.deep.equal([]);
    await agent.loop.stop();
  });

  for (const [count, looks] of [
    [3, 1],
    [12, 0],
  ] as const) {
    it(`${looks === 1 ? "looks at once" : "waits for the end of the turn before it looks"} with ${count} operations under way`, async () => {
      const agent = await FakeAgent.start();
      const writing = held();
      const { append } = agent.host.journal;
      agent.host.journal.append = async (text) => {
        await writing.promise;
        return append(text);
      };
      await agent.want(...Array.from({ length: count }, (_, n) => at(`${n}`, `node.volume-${n}`)));
      expect(agent.loop.running.size).to.equal(count);
      let plans = 0;
      const { mountTable } = agent.host;
      const { read } = mountTable;
      mountTable.read = () => {
        plans += 1;
        return read();
      };
      await agent.look();
      expect(plans, "at once").to.equal(looks);
      await agent.look();
      await agent.system.advance(1);
      expect(plans, "for two triggers").to.equal(looks === 1 ? 2 : 1);
      writing.release();
      await agent.system.advance(100);
      await agent.loop.stop();
    });
  }
});
