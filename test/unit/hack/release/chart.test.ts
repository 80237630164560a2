import { expect } from "chai";
import { emit, verbatim } from "../../../../hack/release/chart/emit.ts";
import { Block, Choice, Each, Scalar, type TreeMap, When } from "../../../../hack/release/chart/tree.ts";
import { vary } from "../../../../hack/release/chart/vary.ts";

describe("vary", () => {
  const base = { a: 1, list: [{ name: "x" }], map: { k: "v" } };

  it("leaves what is the same, whatever the condition", () => {
    expect(vary(base, base, structuredClone(base), "c")).to.equal(base);
  });

  it("hangs fields and items that are added on the condition, those of several conditions one after the other", () => {
    const first = vary(base, base, { ...base, b: 2, list: [{ name: "x" }, { name: "y" }] }, "c");
    const both = vary(first, base, { ...base, list: [{ name: "x" }, { name: "z" }] }, "d");
    const list = [{ name: "x" }, new When("c", { name: "y" }), new When("d", { name: "z" })];
    expect(both).to.deep.equal({ ...base, b: new When("c", 2), list });
  });

  it("hangs a value that differs, and a field that goes, on it, too", () => {
    const tree = vary(base, base, { a: 2, list: [{ name: "x" }] }, "c");
    expect(tree).to.deep.equal({ ...base, a: new Choice("c", 2, 1), map: new When("not (c)", base.map) });
  });

  it("refuses what two conditions want to be different", () => {
    const first = vary(base, base, { ...base, a: 2 }, "c");
    expect(() => vary(first, base, { ...base, a: 3 }, "d")).to.throw("changed under two conditions");
    const added = vary(base, base, { ...base, b: 2 }, "c");
    expect(() => vary(added, base, { ...base, b: 3 }, "d")).to.throw("under two conditions");
  });
});

describe("emit", () => {
  it("is YAML with the templates at their places", () => {
    const tree: TreeMap = {
      plain: { "a: b": ["x", 1] },
      scalar: new Scalar(".Values.s | quote"),
      block: { inner: new Block("toYaml .Values.b") },
      sometimes: new When(".Values.w", "yes"),
      either: new Choice(".Values.c", 1, 2),
      items: [{ name: "item", value: new Scalar(".Values.v") }, new When(".Values.i", "last")],
      each: [new Each(".Values.list", ["path: {{ $item }}", "name: p-{{ $i }}"])],
    };
    expect(emit(tree).split("\n")).to.deep.equal([
      ...["plain:", "  'a: b':", "    - x", "    - 1"],
      "scalar: {{ .Values.s | quote }}",
      ...["block:", "  inner: {{- toYaml .Values.b | nindent 4 }}"],
      ...["{{- if .Values.w }}", "sometimes: 'yes'", "{{- end }}"],
      ...["{{- if .Values.c }}", "either: 1", "{{- else }}", "either: 2", "{{- end }}"],
      ...["items:", "  - name: item", "    value: {{ .Values.v }}"],
      ...["{{- if .Values.i }}", "  - last", "{{- end }}"],
      ...[
        "each:",
        "{{- range $i, $item := .Values.list }}",
        "  - path: {{ $item }}",
        "    name: p-{{ $i }}",
        "{{- end }}",
      ],
      "",
    ]);
  });

  it("shows templates of others as they are", () => {
    expect(verbatim("on {{ $labels.node }}")).to.equal('on {{ "{{" }} $labels.node }}');
  });
});
