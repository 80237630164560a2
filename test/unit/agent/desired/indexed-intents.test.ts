import { expect } from "chai";
import type { NodeVolumeIntent } from "../../../../src/api/types.gen.ts";
import { intents, indexedStory as story } from "./indexed-story.ts";

describe("IndexedIntents", () => {
  it("is synced by an empty index, and tells of what comes, changes and goes, each with one read", async () => {
    const { put, writeIndex, run, take, takeReads, synced, api } = story();
    await run();
    expect(synced()).to.equal(true);
    put("a");
    writeIndex();
    await run();
    expect([take(), takeReads()]).to.deep.equal([["+a"], ["a"]]);
    put("a", { suspend: true });
    writeIndex();
    await run();
    expect([take(), takeReads()]).to.deep.equal([["~a 2"], ["a"]]);
    api.remove(intents, "a");
    writeIndex();
    await run();
    expect([take(), takeReads()]).to.deep.equal([["-a"], ["a"]]);
    await run(60_000);
    expect(takeReads()).to.deep.equal([]);
  });

  it("is not synced before everything that the index names was read, and what is on record beside", async () => {
    const { put, writeIndex, run, take, synced, connected, source, api } = story({ onRecord: ["a", "old"] });
    put("a");
    put("b");
    api.fault = ({ path }) => (path.endsWith("/b") ? { status: 500, message: "planned fault" } : undefined);
    writeIndex({ intents: [{ name: "b", uid: api.object(intents, "b")?.metadata.uid, generation: 1 }] });
    await run(100);
    expect(take()).to.deep.equal(["+a"]);
    expect([synced(), connected()]).to.deep.equal([false, false]);
    expect(source.notSynced()).to.match(/1 of them were not read yet: b: .*planned fault/);
    api.fault = () => undefined;
    await run(2_000);
    expect([take(), synced(), connected()]).to.deep.equal([["+b"], true, true]);
    expect(source.notSynced()).to.equal(undefined);
  });

  it("without an index is not synced, says why, and keeps what it has when the index goes", async () => {
    const { put, writeIndex, run, take, synced, connected, source, takeReads } = story({ index: false });
    put("a");
    await run(100);
    expect([synced(), connected(), source.problem()?.reason]).to.deep.equal([false, false, "IndexMissing"]);
    expect(source.notSynced()).to.contain("--index-intents");
    writeIndex();
    await run();
    expect([take(), synced(), connected(), source.problem()]).to.deep.equal([["+a"], true, true, undefined]);
    for (const spec of [null, { omitted: 2000, intents: null }]) {
      writeIndex(spec);
      await run();
      expect([take(), synced(), connected()]).to.deep.equal([[], true, false]);
    }
    expect(source.problem()?.reason).to.equal("IndexTooLarge");
    writeIndex({ omitted: null, intents: [] });
    await run();
    expect([take(), takeReads().at(-1), connected()]).to.deep.equal([[], "a", true]);
  });

  it("takes nothing for gone that is still there, and notices when it goes after the index was mended", async () => {
    const { put, writeIndex, run, take, api } = story();
    put("a");
    writeIndex();
    await run();
    writeIndex({ intents: [] });
    await run();
    expect(take()).to.deep.equal(["+a"]);
    writeIndex();
    await run();
    api.remove(intents, "a");
    writeIndex();
    await run();
    expect(take()).to.deep.equal(["-a"]);
  });

  it("an index that is behind brings no older intent", async () => {
    const { put, writeIndex, run, take, api, source } = story();
    put("a");
    put("a", { suspend: true });
    const uid = api.object(intents, "a")?.metadata.uid;
    writeIndex();
    await run();
    writeIndex({ intents: [{ name: "a", uid, generation: 1 }] });
    await run();
    expect(take()).to.deep.equal(["+a"]);
    expect(source.store.get("a")?.metadata.generation).to.equal(2);
  });

  it("an answer that comes after the next change is followed by another read", async () => {
    const { put, writeIndex, run, take, hold, takeReads } = story();
    put("a");
    writeIndex();
    const letGo = hold();
    await run();
    put("a", { suspend: true });
    writeIndex();
    await run();
    expect(take()).to.deep.equal([]);
    letGo();
    await run();
    expect([take(), takeReads()]).to.deep.equal([
      ["+a", "~a 2"],
      ["a", "a"],
    ]);
  });

  it("a late answer to a write brings nothing back that is gone, and one to a read nothing older", async () => {
    const { put, writeIndex, run, take, hold, api, source } = story();
    put("a");
    writeIndex();
    await run();
    const early = api.object(intents, "a");
    const letGo = hold();
    put("a", { suspend: true });
    writeIndex();
    await run();
    const written = api.patch(intents, "a", { status: { state: "Mounted" } }, "status");
    source.upsertIfNewer(written); // the answer overtakes that of the read
    letGo();
    await run();
    expect(source.store.get("a")?.raw.status.state).to.equal("Mounted");
    source.upsertIfNewer(early);
    expect(source.store.get("a")?.metadata.generation).to.equal(2);
    api.remove(intents, "a");
    writeIndex();
    await run();
    source.upsertIfNewer(written);
    expect(take().at(-1)).to.equal("-a");
    expect(source.store.size).to.equal(0);
  });

  it("what says that an intent is gone counts only if nothing else was heard of it meanwhile", async () => {
    const { put, writeIndex, run, take, hold, api, source } = story();
    put("a");
    const first = api.object(intents, "a") as unknown as NodeVolumeIntent;
    writeIndex();
    await run();
    api.remove(intents, "a");
    writeIndex();
    const letGo = hold();
    await run();
    source.upsertIfNewer({ ...first, metadata: { ...first.metadata, resourceVersion: "9999" } });
    letGo();
    await run();
    expect(take()).to.deep.equal(["+a", "~a 1", "-a"]); // by a second read
  });

  it("leaves an intent of another node alone, whoever has named it in the index", async () => {
    const { put, writeIndex, run, take, synced } = story();
    put("a", { nodeName: "n2" });
    writeIndex();
    await run();
    expect([take(), synced()]).to.deep.equal([[], true]);
  });

  it("comes back after a gap of the watch, and does not wait with reads that failed meanwhile", async () => {
    const { put, writeIndex, run, take, api, connected } = story();
    put("a");
    writeIndex();
    await run();
    api.fault = () => ({ when: "before" });
    put("b");
    writeIndex();
    await run(130_000); // the next read of b is in a minute
    api.breakWatches("error");
    api.remove(intents, "a");
    put("c");
    writeIndex();
    await run(30_000);
    expect([take(), connected()]).to.deep.equal([["+a"], false]);
    api.fault = () => undefined;
    await run(11_000);
    expect([take().sort(), connected()]).to.deep.equal([["+b", "+c", "-a"], true]);
  });

  it("takes what an API server says that was restored from a backup", async () => {
    const { put, writeIndex, run, take, api, source, system } = story();
    put("a");
    writeIndex();
    await run();
    const restore = api.backup();
    put("a", { suspend: true });
    writeIndex();
    await run();
    restore();
    api.bookmark();
    await run(2_000);
    expect(take()).to.include("~a 1");
    expect(source.store.get("a")?.metadata.generation).to.equal(1);
    expect(system.lines.map(({ message }) => message).join()).to.contain("returned to an older state");
  });

  it("reads what it doubts anew, and once more when no write can be under way any more", async () => {
    const { put, writeIndex, run, take, takeReads, api, source } = story();
    put("a");
    writeIndex();
    await run();
    takeReads();
    take();
    api.patch(intents, "a", { status: { state: "Mounted" } }, "status"); // a write of ours whose answer was lost
    source.doubt("a");
    source.doubt("a");
    await run();
    expect([take(), takeReads()]).to.deep.equal([["~a 1"], ["a"]]);
    api.patch(intents, "a", { status: { state: "Mounting" } }, "status"); // an earlier one, which was long under way
    await run(100_000);
    expect([take(), takeReads()]).to.deep.equal([["~a 1"], ["a"]]);
    await run(120_000);
    expect(takeReads()).to.deep.equal([]);
  });

  it("reads once more what it doubts while a read of it is under way", async () => {
    const { put, writeIndex, run, takeReads, hold, source, api } = story();
    put("a");
    writeIndex();
    const letGo = hold();
    await run();
    api.patch(intents, "a", { status: { state: "Mounted" } }, "status");
    source.doubt("a");
    letGo();
    await run();
    expect(takeReads()).to.deep.equal(["a", "a"]);
    expect(source.store.get("a")?.raw.status.state).to.equal("Mounted");
  });

  it("reads within two minutes all that it knows, names or has on record once others may have written it", async () => {
    const { put, writeIndex, run, takeReads, api, source, take } = story({ onRecord: ["of-record"] });
    put("a");
    put("b");
    writeIndex();
    await run();
    takeReads();
    take();
    // As somebody does while no policy keeps him from it: no generation tells of it.
    api.patch(intents, "a", { status: { state: "Released", inUse: false } }, "status");
    source.relist();
    source.relist();
    await run(50_000);
    expect(takeReads(), "not all agents at once").to.deep.equal([]);
    await run(70_000);
    expect(takeReads().sort()).to.deep.equal(["a", "b", "of-record"]);
    expect(source.store.get("a")?.raw.status?.state).to.equal("Released");
    expect(take()).to.have.length(1);
    source.relist();
    source.stop();
    source.relist();
    await run(120_000);
    expect(takeReads()).to.deep.equal([]);
  });

  it("reads each intent again after about an hour, and no more once it is stopped", async () => {
    const { put, writeIndex, run, takeReads, api, source } = story();
    put("a");
    writeIndex();
    await run();
    takeReads();
    api.patch(intents, "a", { status: { state: null } }, "status");
    await run(80 * 60_000);
    expect(takeReads()).to.deep.equal(["a"]);
    source.stop();
    writeIndex({ intents: [] });
    await run(200 * 60_000);
    expect(takeReads()).to.deep.equal([]);
  });
});
