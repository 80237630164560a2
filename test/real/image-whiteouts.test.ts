import { execFileSync } from "node:child_process";
import { mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import fc from "fast-check";
import { LayerWriter } from "../../src/host/linux/image/layer-writer.ts";
import type { TarEntry } from "../../src/host/linux/image/tar/tar.ts";
import { Descriptor } from "../../src/host/linux/syscall/descriptor.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { loadSandboxCalls } from "../../src/host/linux/syscall/sandbox-calls.ts";
import { need } from "../lib/asserts/requirements.ts";

type Entry = { readonly path: string; readonly kind: "file" | "directory"; readonly mode: number };
interface Layer {
  readonly entries: readonly Entry[];
  readonly whiteouts: readonly string[];
  /** Where in the layer each whiteout stands. */
  readonly places: readonly number[];
}
/** Kind and mode of each path. */
type Tree = Map<string, Omit<Entry, "path">>;

/** Modes of files alone: of a directory that it only implies the specification says nothing. */
const printed = ["-type", "d", "-printf", "/%P/\\n", "-o", "-printf", "/%P %m\\n"];
const opaque = ".wh..wh..opq";
const implied = { kind: "directory", mode: 0o755 } as const;

/** What the image specification says: first the whiteouts of a layer, of what is beneath it, then its entries. */
function layered(beneath: Tree, { whiteouts, entries }: Layer): Tree {
  const tree = new Map(beneath);
  const drop = (path: string, itself: boolean) => {
    for (const name of [...tree.keys()])
      if (name.startsWith(`${path}/`) || (itself && name === path)) tree.delete(name);
  };
  for (const whiteout of whiteouts) {
    const above = whiteout.slice(0, whiteout.lastIndexOf("/"));
    if (whiteout.endsWith(opaque)) drop(above, false);
    else drop(`${above}/${whiteout.slice(above.length + 1 + ".wh.".length)}`, true);
  }
  for (const { path, kind, mode } of entries) {
    if (kind === "file" || tree.get(path)?.kind === "file") drop(path, true);
    for (let at = path.indexOf("/", 1); at > 0; at = path.indexOf("/", at + 1)) {
      const name = path.slice(0, at);
      if (!tree.has(name)) tree.set(name, implied);
    }
    tree.set(path, { kind, mode });
  }
  return tree;
}

const name = fc.constantFrom("a", "b", "c");
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join("/")}`);
const entry = fc.record({
  path,
  kind: fc.constantFrom("file", "directory"),
  mode: fc.constantFrom(0o700, 0o750),
} as const);
const whiteout = fc.oneof(
  path.map((of) => of.replace(/\/([^/]*)$/, "/.wh.$1")),
  path.map((of) => `${of}/${opaque}`),
);
const layers = fc.array(
  fc.record({
    entries: fc.array(entry, { maxLength: 8 }),
    whiteouts: fc.array(whiteout, { maxLength: 4 }),
    places: fc.array(fc.nat(8), { minLength: 4, maxLength: 4 }),
  }),
  { minLength: 2, maxLength: 4 },
);

/** Nothing beneath a file, of this layer or of those beneath, which whiteouts do not take before it is written. */
function possible(beneath: Tree, { entries, ...more }: Layer): Layer {
  const files = new Set([...beneath].filter(([, { kind }]) => kind === "file").map(([file]) => file));
  const isBeneathFile = (of: string) => [...files].some((file) => of.startsWith(`${file}/`));
  const kept = entries.filter(({ path: of, kind }) => {
    if (isBeneathFile(of)) return false;
    if (kind === "file") files.add(of);
    else files.delete(of);
    return true;
  });
  return { ...more, entries: kept };
}

describe("LayerWriter, of random layers", function () {
  this.timeout(60_000); // on machines that have others at work
  before(function () {
    need(this, "root");
  });

  it("shows what the image specification says, wherever whiteouts stand in their layer", async () => {
    const libc = loadLibc();
    const calls = loadSandboxCalls();
    const property = fc.asyncProperty(layers, async (drawn) => {
      const at = mkdtempSync(`${tmpdir()}/layers-`);
      try {
        using root = new Descriptor(openSync(at, "r"));
        const writer = new LayerWriter(libc, calls, root, () => {});
        let wanted: Tree = new Map();
        for (const any of drawn) {
          const layer = possible(wanted, any);
          wanted = layered(wanted, layer);
          await writer.layer(() => writeLayer(writer, layer));
        }
        const found = execFileSync("find", [at, "-mindepth", "1", ...printed], { encoding: "utf8" });
        const lines = [...wanted].map(([of, { kind, mode }]) =>
          kind === "file" ? `${of} ${mode.toString(8)}` : `${of}/`,
        );
        expect(found.split("\n").filter(Boolean).sort()).to.deep.equal(lines.sort());
      } finally {
        rmSync(at, { recursive: true });
      }
    });
    await fc.assert(property, { numRuns: 150 });
  });

  async function writeLayer(writer: LayerWriter, { entries, whiteouts, places }: Layer): Promise<void> {
    const all: Entry[] = [...entries];
    for (const [index, of] of whiteouts.entries()) {
      all.splice(Math.min(places[index] ?? 0, all.length), 0, { path: of, kind: "file", mode: 0o644 });
    }
    for (const one of all) {
      const full: TarEntry = { ...one, target: "", uid: 0, gid: 0, mtime: 0n, size: 0, holes: 0 };
      await writer.write(full, async () => {});
    }
  }
});
