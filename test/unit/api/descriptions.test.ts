import { expect } from "chai";
import { readCRDs, type Schema, schemaOf } from "../../../hack/lib/crds.ts";

/** What the API server says itself; of metadata it takes no description. */
const ofEveryObject: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);
const longest = 400;

describe("what kubectl explain says", () => {
  const described = [...readCRDs()].flatMap(([kind, crd]) => [
    { path: kind, schema: schemaOf(crd) },
    ...fieldsOf(schemaOf(crd), kind).filter(({ path }) => !ofEveryObject.has(path.split(".")[1] ?? "")),
  ]);
  const text = ({ schema }: Field) => String(schema["description"] ?? "");
  const wrong = (is: (field: Field) => boolean) => described.filter(is).map(({ path }) => path);

  it("is something of each field", () => {
    expect(described.length).to.be.greaterThan(500);
    expect(wrong((field) => text(field).trim() === "")).to.deep.equal([]);
  });

  it("is sentences, not longer than a screen takes", () => {
    expect(wrong((field) => !/^[A-Z"0-9].*[.)]$/s.test(text(field)))).to.deep.equal([]);
    expect(wrong((field) => text(field).length > longest)).to.deep.equal([]);
    expect(wrong((field) => /\s{2}|\n/.test(text(field)))).to.deep.equal([]);
  });

  it("is of a name of its own, not of the field beside it", () => {
    for (const [path, word] of [
      ["iscsi.iqn", "target"],
      ["iscsi.initiatorName", "node"],
    ] as const)
      for (const field of described.filter((one) => one.path.endsWith(`.${path}`)))
        expect(text(field), field.path).to.include(word);
  });

  it("is nothing that the API server refuses: a key of a taint is left out, and not empty", () => {
    const key = described.filter(({ path }) => path.endsWith(".tolerations[].key"));
    expect(key.length).to.equal(1);
    for (const field of key)
      expect(text(field))
        .to.match(/left out/)
        .and.not.match(/empty/i);
  });

  it("is of legacy sources that they are experimental, and of no other", () => {
    const experimental = wrong((field) => text(field).startsWith("Experimental: it may change or go in any release."));
    const legacy = ["flexVolume", "flocker", "git", "glusterfs"];
    expect(experimental.sort()).to.deep.equal(legacy.map((name) => `NodeVolumeSet.spec.volume.source.${name}`));
  });
});

interface Field {
  readonly path: string;
  readonly schema: Schema;
}

/** Every field beneath a schema, with its path. */
function fieldsOf(schema: Schema, at: string): Field[] {
  const named = Object.entries((schema["properties"] ?? {}) as { [name: string]: Schema });
  const others = [
    ["[]", schema["items"]],
    ["{}", schema["additionalProperties"]],
  ] as const;
  return [
    ...named.flatMap(([name, field]) => {
      const path = `${at}.${name}`;
      return [{ path, schema: field }, ...fieldsOf(field, path)];
    }),
    ...others.flatMap(([mark, inner]) => (typeof inner === "object" ? fieldsOf(inner as Schema, at + mark) : [])),
  ];
}
