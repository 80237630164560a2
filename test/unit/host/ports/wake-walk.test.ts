import { expect } from "chai";
import { type Found, type Ground, walkListening } from "../../../../src/host/ports/wake-walk.ts";
import type { WatchedPath } from "../../../../src/host/ports/wakeups.ts";

/** Directories are objects, files are null, links are texts. */
interface Tree {
  readonly [name: string]: Tree | string | null;
}

/** A fake file system that remembers what was listened to, and in which order it was asked. */
class FakeGround implements Ground<Tree> {
  readonly heard: string[] = [];
  /** Directories that the walk may go back to: how many there are now, and were at most. */
  held = 1;
  mostHeld = 1;
  readonly #tree: Tree;

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  root(): Found<Tree> {
    return { kind: "directory", directory: this.#tree, identity: "root" };
  }

  look(directory: Tree, name: string): Found<Tree> {
    this.heard.push(name);
    if (name === "far") return { kind: "unavailable", why: "mayHang" };
    const found = directory[name];
    if (found === undefined) return { kind: "missing" };
    if (typeof found === "string") return { kind: "link", to: found, identity: name };
    if (found === null) return { kind: "file", file: {}, identity: name };
    this.held += 1;
    this.mostHeld = Math.max(this.mostHeld, this.held);
    return { kind: "directory", directory: found, identity: name };
  }

  listenToFile(): void {
    this.heard.push("(writers)");
  }

  leave(): void {
    this.held -= 1;
  }
}

describe("walkListening", () => {
  const tree: Tree = {
    a: { b: { c: {} }, file: null, up: "../a/b", absolute: "/a/b", dangling: "/x/y", loop: "loop" },
  };
  const walk = (path: string, more: Partial<WatchedPath> = {}) => {
    const ground = new FakeGround(tree);
    const { end, unavailable } = walkListening({ root: "/", path, links: "follow", ...more }, ground);
    return { end, unavailable, heard: ground.heard.join(" ") };
  };

  const cases: readonly (readonly [string, Partial<WatchedPath>, string, string])[] = [
    ["/a/b/c", {}, "directory c", "a b c"],
    ["/a/b/x/y", {}, "missing", "a b x"],
    ["/a/file", {}, "file file", "a file"],
    ["/a/file", { written: true }, "file file", "a file (writers)"],
    ["/a/file/x", { written: true }, "no directory file", "a file"],
    ["/a/up/c", {}, "directory c", "a up a b c"],
    ["/a/absolute/c", {}, "directory c", "a absolute a b c"],
    ["/a/dangling", {}, "missing", "a dangling x"],
    ["/a/up/c", { links: "refuse" }, "link up", "a up"],
    ["/../../a/b", {}, "directory b", "a b"],
    ["/", {}, "directory root", ""],
  ];
  for (const [path, more, end, heard] of cases) {
    it(`of ${path} ${JSON.stringify(more)} ends at ${end}, listening to: ${heard || "nothing"}`, () => {
      expect(walk(path, more)).to.deep.equal({ end, heard, unavailable: undefined });
    });
  }

  it("ends where a file system could hang, and says so", () => {
    expect(walk("/a/far/x")).to.deep.equal({ end: "unavailable", unavailable: "mayHang", heard: "a far" });
  });

  it("follows no more links than the kernel", () => {
    const { end, heard } = walk("/a/loop");
    expect(end).to.equal("link loop");
    expect(heard.split(" ")).to.have.length(1 + 41);
  });

  it("says no root where the root is none", () => {
    const ground: Ground<Tree> = {
      ...new FakeGround(tree),
      root: () => ({ kind: "missing" }),
      look: () => ({ kind: "missing" }),
      listenToFile() {},
      leave() {},
    };
    expect(walkListening({ root: "/", path: "/a", links: "follow" }, ground).end).to.equal("no root");
  });

  it("gives up after 256 names, however few links named them", () => {
    const ground = new FakeGround({ a: {}, bomb: "a/../".repeat(300) });
    const ended = walkListening({ root: "/", path: "/bomb", links: "follow" }, ground);
    expect(ended.unavailable).to.equal("limit");
    expect(ground.heard).to.have.lengthOf(256);
    expect(ground.mostHeld, "directories held open at once").to.equal(2);
  });

  it("holds only the directories that it may go up to", () => {
    const ground = new FakeGround({ a: { b: { c: {}, out: "/a" } } });
    walkListening({ root: "/", path: "/a/b/c/../../b/out/..", links: "follow" }, ground);
    expect(ground).to.include({ held: 1, mostHeld: 4 });
  });
});
