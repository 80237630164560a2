import { expect } from "chai";
import type { KubeObject } from "../../../../src/api/meta.ts";
import { reflectorStory as story } from "./reflector-story.ts";

describe("createReflector, when things go wrong", () => {
  it("keeps its objects while the API server is away, and backs off", async () => {
    const { system, api, reflector, put, watches } = story({});
    put("a");
    reflector.start();
    await system.advance(1000);
    api.fault = () => ({ when: "before" });
    const before = watches().length;
    let opens = 0;
    api.fault = () => {
      opens += 1;
      return { when: "before" };
    };
    api.breakWatches("error");
    const brokenAt = system.clock.now();
    await system.advance(300_000);
    expect(before).to.equal(1);
    // 0.4 + 0.8 + 1.6 + 3.2 s, then every 5 s (random is 0.5).
    expect(opens).to.equal(4 + 58);
    expect(reflector.store.state()).to.deep.equal({ synced: true, connected: false, since: brokenAt });
    expect(reflector.store.size).to.equal(1);
    api.fault = () => undefined;
    await system.advance(16_000);
    expect(reflector.store.state().connected).to.equal(true);
    expect(system.lines.map((l) => l.message)).to.deep.equal(["watch lost", "watch lost", "watch is back"]);
  });

  it("leaves a server alone for as long as it asks, whether it watches or lists in pages", async () => {
    const details = { retryAfterSeconds: 7 };
    const body = { kind: "Status", reason: "TooManyRequests", message: "later", details };
    const asked: number[] = [];
    const { system, reflector } = story({
      transport: {
        request: async () => {
          asked.push(system.clock.monotonic());
          return { status: 429, body };
        },
        stream(_request, { onEnd }) {
          asked.push(system.clock.monotonic());
          const status = asked.length === 1 ? 429 : 400; // the second time WatchList is refused: pages follow
          system.timers.after(0, () => onEnd({ response: { status, body } }));
          return () => {};
        },
      },
    });
    reflector.start();
    await system.advance(14_000);
    expect(asked).to.deep.equal([0, 7_000, 7_000, 14_000]);
    reflector.stop();
  });

  describe("when etcd is restored from a backup, whose versions are lower", () => {
    async function restored() {
      const world = story();
      const { system, api, reflector, put } = world;
      put("kept", { before: true });
      put("made-again", { before: true });
      reflector.start();
      const restore = api.backup();
      await system.advance(1_000);
      for (let i = 0; i < 20; i += 1) put("kept", { i });
      api.remove("nodevolumesets", "made-again");
      put("lost");
      await system.advance(1_000);
      restore();
      world.take();
      return world;
    }
    const specs = ({ reflector }: ReturnType<typeof story>) =>
      Object.fromEntries([...reflector.store.list()].map((o) => [o.metadata.name, (o as { spec?: unknown }).spec]));
    const backup = { kept: { before: true }, "made-again": { before: true } };

    it("a list takes everything from it, and what changes afterwards is seen", async () => {
      const world = await restored();
      world.api.breakWatches("expire");
      await world.system.advance(2_000);
      expect(specs(world)).to.deep.equal(backup);
      world.put("kept", { after: true });
      await world.system.advance(10);
      expect(specs(world)).to.deep.include({ kept: { after: true } });
      expect(world.system.lines.filter((l) => l.level === "error")).to.have.length(1);
    });

    it("a bookmark below what was seen makes it list", async () => {
      const world = await restored();
      world.api.bookmark();
      await world.system.advance(2_000);
      expect(specs(world)).to.deep.equal(backup);
    });

    it("an event below what was seen makes it list", async () => {
      const world = await restored();
      world.put("kept", { after: true });
      await world.system.advance(2_000);
      expect(specs(world)).to.deep.equal({ ...backup, kept: { after: true } });
    });

    it("a watch that shows nothing, not even a bookmark, makes it list", async () => {
      const world = await restored();
      world.api.breakWatches("error");
      await world.system.advance(2_000);
      expect(specs(world), "the server sends nothing below the version asked for").not.to.deep.equal(backup);
      await world.system.advance(180_000);
      world.api.breakWatches("error");
      await world.system.advance(2_000);
      expect(specs(world)).to.deep.equal(backup);
    });
  });

  it("logs a failure when its cause changes and every five minutes, and the return", async () => {
    const { system, api, reflector } = story();
    const causes = () =>
      system.lines.splice(0).map(({ level, message, meta }) => `${level} ${message} ${meta?.["reason"] ?? ""}`);
    api.fault = () => ({ status: 403 });
    reflector.start();
    expect(reflector.notSynced()).to.equal("nodevolumesets: the list is on its way");
    await system.advance(200_000);
    const forbidden = "watch: 403 Planned: planned fault";
    expect(causes()).to.deep.equal([`warn watch lost ${forbidden}`]);
    expect(reflector.notSynced()).to.equal(`nodevolumesets: ${forbidden}`);
    await system.advance(200_000);
    expect(causes(), "still so").to.deep.equal([`warn watch lost ${forbidden}`]);
    api.fault = () => ({ when: "before" });
    await system.advance(20_000);
    expect(causes(), "another cause").to.deep.equal(["warn watch lost planned fault"]);
    api.fault = () => undefined;
    await system.advance(20_000);
    expect(causes()).to.deep.equal(["info watch is back "]);
    expect(reflector.notSynced()).to.equal(undefined);
  });

  it("nudge ends the wait for the next attempt, and nothing else", async () => {
    const { system, api, reflector, watches } = story();
    reflector.start();
    await system.advance(1000);
    reflector.nudge();
    expect(watches()).to.have.length(1);
    const { fault } = api;
    api.fault = () => ({ when: "before" });
    api.breakWatches("error");
    await system.advance(100_000);
    api.fault = fault;
    reflector.nudge();
    await system.advance(60_000);
    expect(watches()).to.have.length(2);
    expect(reflector.store.state().connected).to.equal(true);
  });

  it("does not flood a server that closes every watch at once", async () => {
    const { system, api, reflector, watches } = story();
    reflector.start();
    await system.advance(10);
    for (let i = 0; i < 1000; i += 1) {
      api.breakWatches("close");
      await system.advance(100);
    }
    expect(watches().length).to.be.lessThan(25);
  });

  it("falls back to pages and a watch when the server refuses WatchList", async () => {
    const { system, api, reflector, take, put, requests, restarts } = story({ namespace: undefined as never });
    api.refuseWatchList = true;
    for (let i = 0; i < 501; i += 1) put(`set-${i}`);
    reflector.start();
    await system.advance(100);
    expect(take()).to.have.length(501);
    expect(requests.map((r) => r.query?.["limit"] ?? "watch")).to.deep.equal(["watch", "500", "500", "watch"]);
    put("later");
    await system.advance(10);
    expect(take()).to.deep.equal(["+later"]);
    expect(restarts).to.deep.equal([]);
    api.breakWatches("expire");
    await system.advance(2000);
    expect(requests.slice(4).map((r) => r.query?.["limit"] ?? "watch")).to.deep.equal(["500", "500", "watch"]);
  });

  it("keeps only the projection, and leaves out what projects to nothing", async () => {
    const { system, reflector, put } = story({
      project: (raw) => {
        const { metadata } = raw as KubeObject;
        const { name, resourceVersion = "" } = metadata;
        return name === "secret" ? undefined : { metadata: { name, resourceVersion } };
      },
    });
    put("a", { large: "x" });
    put("secret");
    reflector.start();
    await system.advance(10);
    expect([...reflector.store.list()].map((o) => Object.keys(o))).to.deep.equal([["metadata"]]);
  });

  it("passes selectors on", async () => {
    const { system, reflector, watches } = story({ fieldSelector: "spec.nodeName=n", labelSelector: "a=b" });
    reflector.start();
    await system.advance(10);
    expect(watches()[0]?.query).to.deep.include({ fieldSelector: "spec.nodeName=n", labelSelector: "a=b" });
  });

  it("resync resolves on a list that was asked for afterwards", async () => {
    const { system, reflector, watches } = story();
    reflector.start();
    await system.advance(10);
    const resynced = reflector.resync();
    await system.advance(10);
    await resynced;
    expect(watches().map((r) => r.query?.["sendInitialEvents"])).to.deep.equal(["true", "true"]);
  });

  it("stop ends the watch, the timers and those who wait", async () => {
    const { system, api, reflector } = story();
    reflector.start();
    const failed = reflector.synced().catch((error: Error) => error.message);
    reflector.stop();
    expect(await failed).to.contain("stopped");
    await system.advance(60_000);
    expect([api.openWatches, system.pendingTimers]).to.deep.equal([0, 0]);
  });
});
