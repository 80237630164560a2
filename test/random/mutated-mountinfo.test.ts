import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { MountTable } from "../../src/host/mount-table/mount-table.ts";
import { type MountEntry, parseMountinfo } from "../../src/host/mount-table/mountinfo.ts";
import { emptyText, parseAfter } from "../../src/host/mount-table/mountinfo-text.ts";
import { OptionLists } from "../../src/host/mount-table/option-lists.ts";
import { mutatedBytes } from "../lib/mutate/mutated-bytes.ts";
import { tryAll } from "../lib/mutate/tries.ts";
import type { SeededRandom } from "../sim/random.ts";

const tables = readFileSync(new URL("corpus/mountinfo.txt", import.meta.url), "latin1")
  .split("\n\n")
  .map((text) => Buffer.from(`${text.trimEnd()}\n`, "latin1"));

/** What seq_escape(m, s, " \t\n\\#") of the kernel makes of a name. */
function escaped(name: Buffer): Buffer {
  const bytes = [...name].flatMap((byte) =>
    [0x20, 0x09, 0x0a, 0x5c, 0x23].includes(byte) ? [...Buffer.from(`\\${byte.toString(8).padStart(3, "0")}`)] : [byte],
  );
  return Buffer.from(bytes);
}

describe("mutated mount tables", function () {
  this.timeout(600_000);

  it("are read as they are or refused with their line, and from the last text as from nothing", async () => {
    await tryAll({
      what: "mutated mount tables",
      usual: 20_000,
      whole: 100_000,
      reaches: { refused: 1_000, read: 1_000 },
      attempt(random) {
        const before = random.pick(tables);
        const text = mutatedBytes(before, tables, random);
        const lists = new OptionLists();
        const whole = attempt(() => parseMountinfo(text.toString(), lists));
        const known = parseAfter(emptyText, before, lists);
        const after = attempt(() => parseAfter(known, text, lists).entries);
        // An empty line is one that the reader of whole texts passes over; the kernel writes none.
        if (/\n\n|^\n/.test(text.toString("latin1"))) return "with an empty line";
        if (!isDeepStrictEqual(after, whole)) expect(after, "from the last text").to.deep.equal(whole);
        if (typeof whole === "string") {
          expect(whole).to.match(/^mountinfo line not understood: /);
          return "refused";
        }
        asWritten(whole, text);
        answers(whole, random);
        return "read";
      },
    });
  });

  it("have every name back as the kernel had it before it escaped it", async () => {
    await tryAll({
      what: "escaped names",
      usual: 20_000,
      whole: 100_000,
      reaches: { same: 1_000 },
      attempt(random) {
        const length = 1 + random.below(40);
        const choice = [..."\\ \t\n#ab/é.0471-\u{1f4be}"];
        const names = Array.from({ length: 4 }, () => `/${Array.from({ length }, () => random.pick(choice)).join("")}`);
        const [root = "", point = "", source = "", fsType = ""] = names;
        const coded = names.map((name) => escaped(Buffer.from(name)));
        const [r, p, s, f] = coded;
        const [mount] = parseMountinfo(`36 35 98:0 ${r} ${p} rw,noatime master:1 - ${f} ${s} rw\n`);
        const wanted = { id: 36, parent: 35, root, point, source, fsType, master: 1 };
        for (const [key, value] of Object.entries(wanted)) same(mount?.[key as keyof MountEntry], value);
        return "same";
      },
    });
  });

  function attempt<T>(read: () => T): T | string {
    try {
      return read();
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Compares each mount with its line, decoded byte by byte. */
  function asWritten(entries: readonly MountEntry[], text: Buffer): void {
    const lines = text
      .toString("latin1")
      .split("\n")
      .filter((line) => line !== "");
    same(entries.length, lines.length);
    for (const [at, line] of lines.entries()) {
      const [id = "", parent = "", device = "", root = "", point = ""] = line.split(" ");
      const entry = entries[at];
      if (!/^\d+$/.test(id) || !/^\d+$/.test(parent)) throw new Error(`taken for a mount: ${JSON.stringify(line)}`);
      same(entry?.id, Number(id));
      same(entry?.parent, Number(parent));
      same(entry?.device, Buffer.from(device, "latin1").toString());
      same(entry?.root, decoded(root));
      same(entry?.point, decoded(point));
    }
  }

  /** As expect().to.equal does, but a hundred times as fast. */
  function same(found: unknown, wanted: unknown): void {
    if (found !== wanted) expect(found).to.equal(wanted);
  }

  function decoded(field: string): string {
    return Buffer.from(field, "latin1")
      .toString()
      .replace(/\\([0-7])([0-7])([0-7])/g, (_, a, b, c) => String.fromCharCode(+a * 64 + +b * 8 + +c));
  }

  /** A table of whatever ids and parents answers, in a time that has an end. */
  function answers(entries: readonly MountEntry[], random: SeededRandom): void {
    const table = new MountTable(entries);
    const { point } = entries.length === 0 ? { point: "/" } : random.pick(entries);
    for (const path of [point, `${point}/x`, "/mnt/nodevolume/a"]) {
      const covering = table.covering(path);
      const top = table.at(path);
      if (top !== undefined) same(top.point, path);
      if (covering !== undefined) same(path.startsWith(covering.point), true);
    }
  }
});
