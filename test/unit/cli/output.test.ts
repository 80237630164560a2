import { expect } from "chai";
import fc from "fast-check";
import { load } from "js-yaml";
import { age, duration } from "../../../src/cli/age.ts";
import { formatOf, toYaml } from "../../../src/cli/output.ts";
import { aligned, table } from "../../../src/cli/table.ts";

describe("toYaml", () => {
  it("is read as what was written, whatever it is", () => {
    const words = fc.constantFrom(
      "yes",
      "null",
      "~",
      "0x10",
      "1e3",
      "a: b",
      "- x",
      "#no",
      " x",
      "x ",
      "a\nb",
      "key:",
      "1.0",
      "=",
      "2026-01-01",
      "é",
      "true story",
      "a #b",
      "x: ",
      "?",
      "<<",
    );
    const text = fc.oneof(words, fc.string(), fc.string({ unit: "grapheme" }));
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: "small" },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("node"), { maxLength: 4 }),
        fc.dictionary(
          text.filter((key) => key !== "__proto__"),
          tie("node"),
          { maxKeys: 4 },
        ),
      ),
    })).node;
    fc.assert(
      fc.property(value, (one) => {
        expect(load(toYaml(one))).to.deep.equal(one);
      }),
      { numRuns: 500 },
    );
  });

  it("looks as kubectl's does", () => {
    const value = {
      kind: "X",
      metadata: { name: "a-b.c", labels: { "a.b/c": "" } },
      list: [{ a: 1, b: ["x", { c: true }] }, []],
      none: {},
    };
    expect(toYaml(value)).to.equal(
      'kind: X\nmetadata:\n  name: a-b.c\n  labels:\n    a.b/c: ""\nlist:\n- a: 1\n  b:\n  - x\n  - c: true\n- []\nnone: {}\n',
    );
  });
});

describe("table", () => {
  const columns = [
    { name: "NAME", of: ({ name }: { name?: string }) => name },
    { name: "LONG", of: () => "x", wide: true as const },
    { name: "LAST", of: () => "y" },
  ];
  it("aligns, leaves wide columns out, and says <none>", () => {
    expect(table(columns, [{ name: "a-long-name" }, {}])).to.equal(
      "NAME          LAST\na-long-name   y\n<none>        y\n",
    );
    expect(table(columns, [{ name: "a" }], { wide: true, headers: false })).to.equal("a   x   y\n");
  });
  it("shows nothing that a terminal would obey", () => {
    expect(table(columns, [{ name: "a\u001b[31m\nb" }], { headers: false })).to.equal("a\\x1b[31m\\x0ab   y\n");
  });
  it("keeps the widths for what comes later", () => {
    const widths: number[] = [];
    table(columns, [{ name: "a-long-name" }], { widths });
    expect(table(columns, [{ name: "b" }], { widths, headers: false })).to.equal("b             y\n");
  });
  it("counts characters, not code units", () =>
    expect(
      aligned([
        ["é😀", "x"],
        ["abc", "y"],
      ]),
    ).to.equal("é😀    x\nabc   y\n"));
});

describe("age", () => {
  const s = 1000;
  const m = 60 * s;
  const h = 60 * m;
  for (const [ms, text] of [
    [-5, "0s"],
    [119 * s, "119s"],
    [5 * m + 3 * s, "5m3s"],
    [9 * m, "9m"],
    [95 * m, "95m"],
    [5 * h + 20 * m, "5h20m"],
    [30 * h, "30h"],
    [3 * 24 * h + 4 * h, "3d4h"],
    [400 * 24 * h, "400d"],
  ] as const) {
    it(`of ${ms} ms is ${text}`, () => expect(duration(ms)).to.equal(text));
  }
  it("of what is no time is nothing", () => expect([age(undefined, 0), age("never", 0)]).to.deep.equal(["", ""]));
});

describe("formatOf", () => {
  it("refuses what the command does not have, and names the nearest", () => {
    expect(() => formatOf({ output: "jsn" }, ["json", "yaml"])).to.throw(
      '-o "jsn" is not one of json, yaml; did you mean json?',
    );
    expect(formatOf({}, ["json"])).to.equal(undefined);
  });
});
