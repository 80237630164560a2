import { expect } from "chai";
import { record } from "../../lib/builders/plan-world.ts";
import { at, FakeAgent, held, stagingOf } from "./fake-agent.ts";

describe("Loop.stop", () => {
  let agent: FakeAgent;
  beforeEach(async () => {
    agent = await FakeAgent.start();
  });
  afterEach(() => agent.loop.stop());

  for (const [what, formatting, longest] of [
    ["20 s for what runs", {}, 20_000],
    ["100 s for an mkfs", { formatting: "8:16" }, 100_000],
  ] as const) {
    it(`stop waits ${what}, and no longer`, async () => {
      const slow = held();
      agent.host.before = () => slow.promise;
      await agent.journal.put(record({ key: "node.volume-1", targets: [], ...formatting }));
      await agent.want(at("a"));
      let ended = false;
      const stopping = agent.loop.stop().then(() => {
        ended = true;
      });
      await agent.system.advance(longest - 1);
      expect(ended).to.equal(false);
      await agent.system.advance(1);
      expect(ended).to.equal(true);
      await stopping;
      slow.release();
    });
  }

  it("stop ends with what runs", async () => {
    const slow = held();
    agent.host.before = () => slow.promise;
    await agent.want(at("a"));
    const stopping = agent.loop.stop();
    slow.release();
    await stopping;
    expect(agent.loop.running.size).to.equal(0);
  });

  it("does nothing more after stop, and leaves what is mounted", async () => {
    await agent.want(at("a"));
    await agent.loop.stop();
    agent.host.unmountAt("/mnt/a");
    await agent.want();
    await agent.system.advance(600_000);
    expect(agent.host.calls).to.deep.equal([`mountFilesystem ${stagingOf("node.volume-1")}`, "bind /mnt/a"]);
  });
});
