import { expect } from "chai";
import fc from "fast-check";
import { virtualSystem } from "../virtual-system.ts";
import { reflectorStory } from "./reflector-story.ts";

/** A reflector where the test says whether a turn is over. */
function story() {
  const loop = { over: false };
  const system = virtualSystem({ over: () => loop.over });
  return { ...reflectorStory({ system }), loop };
}

describe("createReflector, of a list that takes several turns", () => {
  it("is not connected until all of it is taken in, and what the watch shows meanwhile comes after it", async () => {
    const { system, api, reflector, take, put, loop } = story();
    for (const name of ["a", "b", "c"]) put(name);
    reflector.start();
    await system.advance(10);
    expect(take()).to.deep.equal(["+a", "+b", "+c"]);
    const states: string[] = [];
    reflector.store.subscribe({
      onState({ synced, connected }) {
        states.push(`synced=${synced} connected=${connected} a=${reflector.store.get("a") !== undefined}`);
      },
      // In the middle of the list: it does not hold what a list of any moment holds.
      onUpdate: ({ metadata }) => metadata.name === "b" && states.push(`b, ${reflector.store.state().connected}`),
    });
    api.breakWatches("error");
    put("b", { changed: true });
    put("c", { changed: true });
    api.remove("nodevolumesets", "a");
    loop.over = true;
    let listed = false;
    void reflector.resync().then(() => {
      listed = true;
      expect(reflector.store.state().connected, "when it resolves").to.equal(true);
    });
    await system.advance(1);
    put("c", { changed: "again" });
    put("d");
    await system.advance(100);
    expect(listed).to.equal(true);
    expect(take().filter((line) => line !== "~c")).to.deep.equal(["~b", "?-a", "+d"]);
    expect(states.at(-1)).to.equal("synced=true connected=true a=false");
    expect(states).to.include("b, false");
    const spec = (name: string) => (reflector.store.get(name) as { spec?: unknown } | undefined)?.spec;
    expect([spec("b"), spec("c")]).to.deep.equal([{ changed: true }, { changed: "again" }]);
  });

  it("a list that is cut off half taken stays unconnected until the next one is taken in", async () => {
    const { system, api, reflector, put, loop } = story();
    for (const name of ["a", "b", "c"]) put(name);
    reflector.start();
    await system.advance(10);
    for (const name of ["a", "b", "c"]) put(name, { changed: true });
    await system.advance(10);
    api.remove("nodevolumesets", "a");
    const seen: boolean[] = [];
    let again = 0;
    reflector.store.subscribe({
      onUpdate: () => seen.push(reflector.store.state().connected),
      onDelete() {
        again += 1;
      },
      onState: ({ connected }) => connected && seen.push(reflector.store.get("a") === undefined),
    });
    loop.over = true;
    const first = reflector.resync();
    await system.advance(3);
    const second = reflector.resync();
    await system.advance(100);
    await Promise.all([first, second]);
    expect(again).to.equal(1);
    expect(
      seen.every((ok) => ok),
      "connected only where a is gone",
    ).to.equal(true);
    expect(reflector.store.state()).to.deep.include({ synced: true, connected: true });
  });

  it("does not go on with a list in whose place another was asked for, though that one never comes", async () => {
    const { system, api, reflector, put, loop } = story();
    for (const name of ["a", "b", "c", "d", "e"]) put(name);
    reflector.start();
    await system.advance(10);
    loop.over = true;
    const lists = [reflector.resync().catch(String)];
    await system.advance(3);
    expect(reflector.store.state().connected, "half taken").to.equal(false);
    api.stream = () => () => {};
    lists.push(reflector.resync().catch(String));
    await system.advance(60_000);
    expect(reflector.store.state()).to.deep.include({ synced: true, connected: false });
    reflector.stop();
    expect(await Promise.all(lists)).to.have.length(2);
  });

  it("goes on with the end of a watch that came while its list was taken in", async () => {
    const { system, api, reflector, put, watches, loop } = story();
    for (const name of ["a", "b", "c"]) put(name);
    loop.over = true;
    reflector.start();
    await system.advance(2);
    expect(reflector.store.state()).to.deep.include({ synced: false, connected: false });
    api.breakWatches("close");
    await system.advance(60_000);
    expect([...reflector.store.list()].length).to.equal(3);
    expect(reflector.store.state()).to.deep.include({ synced: true, connected: true });
    expect(watches().length).to.be.greaterThan(1);
    expect(watches().at(-1)?.query, "from where the list was").to.have.property("resourceVersion");
  });

  it("law: whenever turns are over, the store ends as the one that was filled at once", async () => {
    const step = fc.record({
      act: fc.constantFrom("put", "remove", "resync", "error", "close", "wait"),
      name: fc.constantFrom("a", "b", "c", "d"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.infiniteStream(fc.boolean()), async (steps, overs) => {
        const { system, api, reflector, put, loop } = story();
        Object.defineProperty(loop, "over", { get: () => overs.next().value === true });
        reflector.start();
        for (const { act, name } of steps) {
          if (act === "put") put(name, { at: system.clock.now() });
          else if (act === "remove" && api.object("nodevolumesets", name) !== undefined) {
            api.remove("nodevolumesets", name);
          } else if (act === "resync") reflector.resync().catch(() => {});
          else if (act === "error" || act === "close") api.breakWatches(act);
          await system.advance(act === "wait" ? 400 : 1);
        }
        await system.advance(30_000);
        const key = (o: { metadata: { name: string; resourceVersion?: string | undefined } }) =>
          `${o.metadata.name}@${o.metadata.resourceVersion}`;
        expect([...reflector.store.list()].map(key).sort()).to.deep.equal(
          api.objects("nodevolumesets").map(key).sort(),
        );
        expect(reflector.store.state()).to.deep.include({ synced: true, connected: true });
        reflector.stop();
      }),
      { numRuns: 200 },
    );
  });
});
