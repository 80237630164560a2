import { expect } from "chai";
import { checkedSchemas } from "../../../hack/lib/checked-schemas.ts";
import { fieldsOf, type Schema } from "../../../hack/lib/crds.ts";
import { type CelRule, isTransition } from "../../../hack/lib/generate-rules.ts";
import { badCases, goodCases } from "../../lib/corpus/corpus.ts";

/** What a field can be refused for, as the API server writes it, or would if the rule were in the CRD. */
interface Limit {
  readonly path: string;
  readonly text: string;
}

const schemas = checkedSchemas();
const bad = badCases();

describe("the corpus", () => {
  it("has at least 170 bad objects and 40 good ones", () => {
    expect(bad.length).to.be.at.least(170);
    expect(goodCases().length).to.be.at.least(40);
  });

  for (const kind of ["NodeVolumeSet", "NodeVolumeIntent"]) {
    it(`has a bad object for every rule and limit of the spec of a ${kind}`, () => {
      const lines = bad.filter(({ object }) => object.kind === kind).flatMap(({ expected }) => expected);
      const written = lines.map((line) => line.replaceAll(/\[[^\]]*\]/g, "[]"));
      const wanted = limitsOf(specOf(kind), "spec").filter(({ path }) => kind === "NodeVolumeSet" || !isShared(path));
      expect(wanted.length).to.be.greaterThan(40);
      const missing = wanted.filter(({ path, text }) => !written.some((line) => has(line, path, text)));
      expect(missing.map(({ path, text }) => `${path}: ${text}`)).to.deep.equal([]);
    });
  }

  it("has a bad object for every rule that compares with the object before", () => {
    const messages = [...schemas].flatMap(([kind, schema]) =>
      everyRule(schema)
        .filter(isTransition)
        .map(({ message }) => ({ kind, message })),
    );
    expect(messages.length).to.be.at.least(6);
    for (const { kind, message } of messages) {
      const found = bad.some((c) => c.before?.kind === kind && c.expected.some((line) => line.includes(message)));
      expect(found, message).to.equal(true);
    }
  });
});

/** The schema of a source is the same in both kinds: sets try it. */
function isShared(path: string): boolean {
  return path === "spec.source" || path.startsWith("spec.source.");
}

function has(line: string, path: string, text: string): boolean {
  return line.startsWith(`${path.replaceAll(/\[[^\]]*\]/g, "[]")}: `) && line.includes(text);
}

function limitsOf(node: Schema, path: string): Limit[] {
  const limits: Limit[] = [];
  const add = (text: string, at = path) => limits.push({ path: at, text });
  if (node["enum"] !== undefined) add("Unsupported value");
  if (node["maxLength"] !== undefined) add("Too long");
  if (node["maxItems"] !== undefined || node["maxProperties"] !== undefined) add("Too many");
  if (node["x-kubernetes-list-map-keys"] !== undefined) add("Duplicate value", `${path}[]`);
  if (node["pattern"] !== undefined) add("in body should match");
  for (const bound of ["minLength", "minimum", "maximum"]) if (node[bound] !== undefined) add("in body should be");
  const messages = [
    ...rulesOf(node).map(({ message, fieldPath = "" }) => [message, fieldPath] as const),
    ...inCode(node).map(({ message, field = "" }) => [message, field] as const),
  ];
  for (const [message, field] of messages) add(message.replaceAll(/\[[^\]]*\]/g, "[]"), path + field);
  const properties = (node["properties"] ?? {}) as { [name: string]: Schema };
  for (const name of (node["required"] ?? []) as string[]) add("Required value", `${path}.${name}`);
  for (const [name, child] of Object.entries(properties)) limits.push(...limitsOf(child, `${path}.${name}`));
  if (node["items"] !== undefined) limits.push(...limitsOf(node["items"] as Schema, `${path}[]`));
  return limits;
}

function rulesOf(node: Schema): CelRule[] {
  return (node["x-kubernetes-validations"] ?? []) as CelRule[];
}

/** Rules that no CRD has. */
function inCode(node: Schema): { readonly message: string; readonly field?: string }[] {
  return (node["rulesInCode"] ?? []) as { message: string; field?: string }[];
}

function everyRule(node: unknown): CelRule[] {
  if (Array.isArray(node)) return node.flatMap(everyRule);
  if (typeof node !== "object" || node === null) return [];
  return [...rulesOf(node as Schema), ...Object.values(node).flatMap(everyRule)];
}

function specOf(kind: string): Schema {
  return fieldsOf(schemas.get(kind))["spec"] ?? {};
}
