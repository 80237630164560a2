import { expect } from "chai";
import { checkedSchemas } from "../../../hack/lib/checked-schemas.ts";
import type { Schema } from "../../../hack/lib/crds.ts";
import { generateReference, renderKind } from "../../../hack/lib/generate-reference.ts";
import { cell, leavesOf, limitsOf, messagesOf, typeOf, wrapped } from "../../../hack/lib/reference/field.ts";

const string = { type: "string" };

describe("generateReference", () => {
  const text = generateReference()
    .map((file) => file.text)
    .join("\n")
    .replace(/<br>|\n/g, " ");

  it("has every field, limit and message of the CRDs", () => {
    const missing = new Set<string>();
    let fields = 0;
    const visit = (schema: Schema) => {
      const properties = Object.entries((schema["properties"] ?? {}) as { [name: string]: Schema });
      for (const [name, field] of properties) {
        if (["apiVersion", "kind", "metadata"].includes(name)) continue;
        fields += 1;
        if (!text.includes(`| \`${name}\` |`)) missing.add(name);
        visit(field);
      }
      for (const limit of limitsOf(schema)) {
        const said = cell(limit);
        if (!text.includes(said) && !text.includes(said.charAt(0).toUpperCase() + said.slice(1))) missing.add(said);
      }
      for (const message of messagesOf(schema)) if (!text.includes(cell(message))) missing.add(message);
      if (typeof schema["items"] === "object") visit(schema["items"] as Schema);
      if (typeof schema["additionalProperties"] === "object") visit(schema["additionalProperties"] as Schema);
    };
    for (const schema of checkedSchemas().values()) visit(schema);
    expect([...missing]).to.deep.equal([]);
    expect(fields).to.be.above(400);
  });

  it("describes an object once, and links to there from wherever it occurs", () => {
    const reference = { title: "Reference", type: "object", required: ["name"], properties: { name: string } };
    const spec = {
      type: "object",
      properties: { first: reference, all: { type: "array", items: reference, maxItems: 2 } },
    };
    const crd = {
      spec: {
        group: "example.com",
        scope: "Cluster",
        names: { kind: "Thing", plural: "things" },
        versions: [{ name: "v1", schema: { openAPIV3Schema: { type: "object", properties: { spec } } } }],
      },
    };
    const page = renderKind(crd, [["spec", "people"]], new Map());
    expect(page.match(/^## .*/gm)).to.deep.equal(["## spec", "## spec.first"]);
    expect(page).to.include("| `first` | [object](#specfirst) |  |  |");
    expect(page).to.include("| `all` | [list of object](#specfirst) |  | At most 2 entries. |");
    expect(page).to.include("| `name` | string | needed |  |");
    expect(page).to.include("| `spec` | people |");
  });
});

describe("what a field takes", () => {
  it("is said in words", () => {
    expect(typeOf({ type: "array", items: { type: "object", additionalProperties: string } })).to.equal(
      "list of map of string to string",
    );
    expect(typeOf({ "x-kubernetes-int-or-string": true })).to.equal("integer or string");
    expect(limitsOf({ type: "integer", minimum: 1, maximum: 9 })).to.deep.equal(["1 to 9"]);
    expect(limitsOf({ type: "array", maxItems: 3, items: { ...string, enum: ["", "a"] } })).to.deep.equal([
      "at most 3 entries",
      'each entry: one of `""`, `a`',
    ]);
  });

  it("is broken into lines, though not in code, and a long default into its values", () => {
    expect(wrapped(`${"word ".repeat(30)}\`${"a b ".repeat(40)}\``)).to.deep.equal([
      "word ".repeat(24).trim(),
      "word ".repeat(6).trim(),
      `\`${"a b ".repeat(40)}\``,
    ]);
    expect(leavesOf({ type: "Never" })).to.deep.equal([{ type: "Never" }]);
    expect(leavesOf({ conditions: [{ reason: "x".repeat(120) }], count: 1 })).to.deep.equal([
      `conditions[0].reason: ${"x".repeat(120)}`,
      "count: 1",
    ]);
  });

  it("fits into a cell of a table", () => {
    expect(cell("a|b <c> `<d>|`\n  e")).to.equal("a\\|b &lt;c> `<d>\\|` e");
  });
});
