import { expect } from "chai";
import { reflectorStory as story } from "./reflector-story.ts";

describe("createReflector, under a virtual clock", () => {
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
});
