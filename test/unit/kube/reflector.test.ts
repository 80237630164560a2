import { expect } from "chai";
import type { KubeObject } from "../../../src/api/meta.ts";
import { resource } from "../../../src/api/names.ts";
import type { ReflectorDeps } from "../../../src/kube/reflector.ts";
import { createReflector } from "../../../src/kube/reflector.ts";
import type { ApiRequest } from "../../../src/kube/transport.ts";
import { createFakeApiServer } from "../fake-api-server.ts";
import { virtualSystem } from "./virtual-system.ts";

describe("createReflector, under a virtual clock", () => {
  function story(options: Partial<ReflectorDeps<KubeObject>> = {}) {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    const requests: ApiRequest[] = [];
    api.fault = (request) => {
      requests.push(request);
      return undefined;
    };
    const restarts: string[] = [];
    const reflector = createReflector<KubeObject>({
      system,
      transport: api,
      resource: resource.sets,
      project: (raw) => raw as KubeObject,
      onRestart: (why) => restarts.push(why),
      ...options,
    });
    const told: string[] = [];
    reflector.store.subscribe({
      onAdd: (o) => told.push(`+${o.metadata.name}`),
      onUpdate: (_, o) => told.push(`~${o.metadata.name}`),
      onDelete: (o, lastKnown) => told.push(`${lastKnown ? "?" : ""}-${o.metadata.name}`),
    });
    const take = () => told.splice(0);
    const put = (name: string, spec: unknown = {}) => api.apply("nodevolumesets", { metadata: { name }, spec });
    const watches = () => requests.filter((r) => r.query?.["watch"] === "true");
    return { system, api, reflector, take, put, requests, watches, restarts };
  }

  it("lists by a stream that asks for a consistent read, then follows it", async () => {
    const { system, reflector, take, put, watches } = story();
    put("a");
    put("b");
    reflector.start();
    const synced = reflector.synced();
    await system.advance(10);
    await synced;
    expect(take()).to.deep.equal(["+a", "+b"]);
    const query = watches()[0]?.query ?? {};
    expect(query).to.deep.include({
      watch: "true",
      sendInitialEvents: "true",
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: "true",
      timeoutSeconds: "450",
    });
    expect(query).not.to.have.property("resourceVersion");
    put("a", { changed: true });
    put("c");
    await system.advance(10);
    expect(take()).to.deep.equal(["~a", "+c"]);
    expect(watches()).to.have.length(1);
    expect(reflector.store.state()).to.deep.include({ synced: true, connected: true });
  });

  it("is not synced before the end of the initial events", async () => {
    const { system, reflector, put } = story();
    put("a");
    reflector.start();
    expect(reflector.store.state().synced).to.equal(false);
    await system.advance(10);
    expect(reflector.store.state().synced).to.equal(true);
  });

  it("takes in changes that arrive among the initial events", async () => {
    const { system, api, reflector, take, put } = story();
    put("gone");
    put("kept");
    reflector.start();
    await system.advance(1);
    // The watch is open and its initial events are on their way.
    api.remove("nodevolumesets", "gone");
    put("kept", { changed: true });
    put("new");
    await system.advance(10);
    expect(take().filter((line) => !line.startsWith("~"))).to.include.members(["+kept", "+new"]);
    expect([...reflector.store.list()].map((o) => o.metadata.name).sort()).to.deep.equal(["kept", "new"]);
  });

  it("goes on from the last resourceVersion when the server closes the watch, and misses nothing", async () => {
    const { system, api, reflector, take, put, watches } = story();
    reflector.start();
    await system.advance(400_000);
    take();
    api.breakWatches("close");
    put("in-the-gap");
    await system.advance(5);
    expect(take()).to.deep.equal(["+in-the-gap"]);
    expect(watches()[1]?.query).to.have.property("resourceVersion");
    expect(watches()[1]?.query).not.to.have.property("sendInitialEvents");
    expect(reflector.store.state().connected).to.equal(true);
  });

  it("a deletion in the gap is seen too, without a list", async () => {
    const { system, api, reflector, take, put } = story();
    put("a");
    reflector.start();
    await system.advance(1000);
    take();
    api.breakWatches("error");
    api.remove("nodevolumesets", "a");
    await system.advance(2000);
    expect(take()).to.deep.equal(["-a"]);
  });

  it("lists again when the versions have expired, and delivers missed deletions as lastKnown", async () => {
    const { system, api, reflector, take, put, watches } = story();
    put("a");
    put("b");
    reflector.start();
    await system.advance(1000);
    take();
    api.remove("nodevolumesets", "a");
    api.breakWatches("expire");
    await system.advance(2000);
    expect(take()).to.deep.equal(["?-a"]);
    expect(watches().at(-1)?.query).to.have.property("sendInitialEvents");
  });

  it("lists again when the answer to the watch is 410", async () => {
    const { system, api, reflector, watches } = story();
    reflector.start();
    await system.advance(100_000);
    const log = api.fault;
    let refusals = 1;
    api.fault = (request) => {
      log(request);
      refusals -= 1;
      return refusals >= 0 ? { status: 410 } : undefined;
    };
    api.breakWatches("close");
    await system.advance(5000);
    expect(watches().map((r) => r.query?.["sendInitialEvents"])).to.deep.equal(["true", undefined, "true"]);
    expect(reflector.store.state().connected).to.equal(true);
  });

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
