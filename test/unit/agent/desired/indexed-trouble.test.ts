import { expect } from "chai";
import { intents, indexedStory as story } from "./indexed-story.ts";

const notFound = { status: 404, body: { kind: "Status", reason: "NotFound" } };

describe("IndexedIntents, where the index tells nothing new", () => {
  it("reads everything again once the API server was restored from a backup: of a status no index tells", async () => {
    const { put, writeIndex, run, api, source } = story();
    put("a");
    writeIndex();
    await run();
    const restore = api.backup();
    source.upsertIfNewer(api.patch(intents, "a", { status: { state: "Released" } }, "status"));
    writeIndex({ intents: [], omitted: null });
    writeIndex();
    await run();
    expect(source.store.get("a")?.raw.status.state).to.equal("Released");
    restore();
    api.bookmark();
    await run(2_000);
    expect(source.store.get("a")?.raw.status.state).to.not.equal("Released");
  });

  it("keeps an intent that something before the API server does not find, and says that it was not read", async () => {
    const { put, writeIndex, run, take, api, source } = story();
    put("a");
    writeIndex();
    await run();
    expect(take()).to.deep.equal(["+a"]);
    for (const [suspend, body] of [
      [true, "<html>404 Not Found</html>"],
      [false, "404 page not found\n"],
    ] as const) {
      api.fault = ({ path }) => (path.endsWith("/a") ? { status: 404, body } : undefined);
      put("a", { suspend });
      writeIndex();
      await run(60_000);
      expect(take()).to.deep.equal([]);
      expect(source.unread()).to.include("a: GET ").and.to.include(body.trim());
    }
  });

  it("does not believe for good that nothing is there of what the index names", async () => {
    const { put, writeIndex, run, take, api } = story();
    put("a");
    api.fault = ({ path }) => (path.endsWith("/a") ? notFound : undefined);
    writeIndex();
    await run();
    expect(take()).to.deep.equal([]);
    api.fault = () => undefined;
    api.patch("nodevolumestates", "n1", { status: { volumes: 0 } }, "status");
    await run();
    expect(take()).to.deep.equal(["+a"]);
  });

  it("names what cannot be read until it is, whatever else was read meanwhile", async () => {
    const { put, writeIndex, run, api, source, connected } = story();
    await run();
    let refused = ["/a", "/b"];
    api.fault = ({ path }) =>
      refused.some((end) => path.endsWith(end)) ? { status: 403, message: "planned fault" } : undefined;
    put("a");
    put("b");
    writeIndex();
    await run();
    refused = ["/a"];
    await run(130_000);
    expect(source.unread()).to.match(/^a: .*planned fault/);
    expect(connected()).to.equal(false);
    refused = [];
    await run(130_000);
    expect([source.unread(), connected()]).to.deep.equal([undefined, true]);
  });

  it("reads about hourly what the index names, too", async () => {
    const { put, writeIndex, run, takeReads, api } = story();
    put("a");
    api.fault = ({ path }) => (path.endsWith("/a") ? notFound : undefined);
    writeIndex();
    await run();
    takeReads();
    await run(80 * 60_000);
    expect(takeReads()).to.include("a");
  });
});
