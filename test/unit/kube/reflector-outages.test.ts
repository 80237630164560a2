import { expect } from "chai";
import type { KubeObject } from "../../../src/api/meta.ts";
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
    // 0.4 + 0.8 + 1.6 + 3.2 + 6.4 + 12.8 s, then every 15 s (random is 0.5).
    expect(opens).to.equal(6 + 18);
    expect(reflector.store.state()).to.deep.equal({ synced: true, connected: false, since: brokenAt });
    expect(reflector.store.size).to.equal(1);
    api.fault = () => undefined;
    await system.advance(16_000);
    expect(reflector.store.state().connected).to.equal(true);
    expect(system.lines.filter((l) => l.level === "warn")).to.have.length(1);
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
    expect(watches().length).to.be.lessThan(20);
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
