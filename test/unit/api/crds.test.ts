import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { checkedSchemas } from "../../../hack/lib/checked-schemas.ts";
import { crdFolder, readCRDs, type Schema, schemaOf } from "../../../hack/lib/crds.ts";
import { rulesOf as rulesInCode } from "../../../hack/lib/generate-rules.ts";
import type { SchemaNode } from "../../../src/api/rules/check-rules.ts";
import type { Rule } from "../../../src/api/rules/rule.ts";
import { checkOf, ruleChecks } from "../../../src/api/rules/rules.ts";
import { schema } from "../../../src/api/schema.gen.ts";

const crds = readCRDs();
const checked = checkedSchemas();

/** Most bytes of a CRD as JSON, which is how etcd and the API server have it (decision 0107). */
const budgets: { readonly [kind: string]: number } = {
  NodeVolumeIntent: 42_000,
  NodeVolumeSet: 98_000,
  NodeVolumeState: 10_000,
};

describe("the CRDs", () => {
  it("are small: 150 KB together, none near 100", () => {
    const sizes = [...crds].map(([kind, crd]) => ({ kind, size: Buffer.byteLength(JSON.stringify(crd)) }));
    expect(sizes.map(({ kind }) => kind).sort()).to.deep.equal(Object.keys(budgets).sort());
    for (const { kind, size } of sizes) expect(size, kind).to.be.at.most(budgets[kind] ?? 0);
    expect(Object.values(budgets).reduce((all, size) => all + size)).to.be.at.most(150_000);
  });

  it("have no bare word that YAML 1.1 reads as a boolean: Helm, and kubectl without kustomize, would name a field true", () => {
    const bare = /(?:^|[{,\s])(?:y|n|yes|no|on|off)\s*:|:\s*(?:y|n|yes|no|on|off)\s*(?:[,}]|$)/i;
    for (const file of readdirSync(crdFolder)) {
      const lines = readFileSync(join(crdFolder, file), "utf8").split("\n");
      expect(
        lines.filter((line) => bare.test(line)),
        file,
      ).to.deep.equal([]);
    }
  });

  it("say in an intent which sources there are, and in the set what each of them holds", () => {
    const open = fields(fields(specOf("NodeVolumeIntent"))["source"] ?? {});
    const whole = fields(fields(fields(specOf("NodeVolumeSet"))["volume"] ?? {})["source"] ?? {});
    expect(Object.keys(open)).to.deep.equal(Object.keys(whole));
    // Without a type, or CEL would take two of them for equal that differ in a field that only one of them has.
    for (const [name, member] of Object.entries(open)) {
      expect(member, name).to.include({ "x-kubernetes-preserve-unknown-fields": true });
      expect(member, name).to.not.have.any.keys("type", "properties");
    }
  });

  it("have the same schema wherever they say the same", () => {
    // Of the intent's spec and the set's spec and volume: all that both have, but what differs by nature.
    const intent = fields(specOf("NodeVolumeIntent"));
    const set = fields(specOf("NodeVolumeSet"));
    const volume = fields(set["volume"] ?? {});
    const differing = ["mode", "mounts", "suspend", "deletionPolicy", "adopt", "volumeMode"];
    const shared = Object.keys(intent).filter((name) => name in set || name in volume);
    expect(shared).to.include.members(["source", "fsType", "mountOptions", "unmountPolicy", "nodeLossPolicy"]);
    expect(shared.splice(shared.indexOf("source"), 1)).to.deep.equal(["source"]);
    for (const name of shared) {
      const other = set[name] ?? volume[name] ?? {};
      const equal = differing.includes(name) ? essence : (node: Schema) => node;
      expect(equal(intent[name] ?? {}), name).to.deep.equal(equal(other));
    }
  });

  it("say of each list how server-side apply merges it", () => {
    const listsOf = (node: Schema, path: string): string[] => [
      ...(node["type"] === "array" && node["x-kubernetes-list-type"] === undefined ? [path] : []),
      ...Object.entries(fields(node)).flatMap(([name, field]) => listsOf(field, `${path}.${name}`)),
      ...(node["items"] === undefined ? [] : listsOf(node["items"] as Schema, `${path}[]`)),
    ];
    for (const [kind, crd] of crds) expect(listsOf(schemaOf(crd), kind)).to.deep.equal([]);
  });

  it("have what agents of the release before write into a status: a field that is not there has all of it refused", () => {
    const status = fields(fields(schemaOf(crds.get("NodeVolumeIntent") as Schema))["status"] ?? {});
    expect(Object.keys(status)).to.include("mountsReady");
  });

  it("are checked in code with the source of a set in an intent, and with its rules for fields that both have", () => {
    const [set, intent] = ["NodeVolumeSet", "NodeVolumeIntent"].map(
      (kind) => fields(checked.get(kind) ?? {})["spec"] ?? {},
    );
    const volume = fields(set ?? {})["volume"] ?? {};
    expect(fields(intent ?? {})["source"]).to.deep.equal(fields(volume)["source"]);
    const words = (node: Schema = {}) => rulesInCode(node).map(({ message }) => String(message));
    expect(words(volume).length).to.be.greaterThan(15);
    expect(words(intent)).to.include.members(words(volume));
    const ofSet = ["drainPolicy", "capacity is for"];
    const shared = words(set).filter((message) => !ofSet.some((start) => message.startsWith(start)));
    expect(shared.length).to.be.greaterThan(10);
    expect(words(intent)).to.include.members(shared);
  });

  it("let nothing of a grant be exchanged but its disk, which is written once it is known, and what is attached", () => {
    const grant = fields(specOf("NodeVolumeIntent"))["grant"] ?? {};
    const { disk, attachments, ...kept } = fields(grant);
    const [rule] = rulesOf(specOf("NodeVolumeIntent")).filter(({ message }) => `${message}`.startsWith("grant cannot"));
    for (const name of Object.keys(kept))
      expect(rule?.["rule"]).to.include(`self.grant.${name} == oldSelf.grant.${name}`);
    const needed = grant["required"] as string[];
    for (const name of Object.keys(kept).filter((one) => !needed.includes(one)))
      expect(rule?.["rule"]).to.include(`has(self.grant.${name}) == has(oldSelf.grant.${name})`);
    expect(rule?.["rule"]).to.not.match(/self\.grant == oldSelf\.grant|grant\.disk/);
    expect(rule?.["rule"]).to.not.include("attachments");
    for (const field of [disk, attachments]) expect(field).to.be.an("object");
  });

  it("have the same mount in a set and in an intent, but for the requester", () => {
    const [set, intent] = ["NodeVolumeSet", "NodeVolumeIntent"].map((kind) => {
      const { name, requester, ...mount } = fields(fields(specOf(kind))["mounts"]?.["items"] as Schema);
      return mount;
    });
    expect(intent).to.deep.equal(set);
  });

  it("have the same conditions in every status", () => {
    const [first, ...others] = [...crds.values()].map(
      (crd) => fields(fields(schemaOf(crd))["status"] ?? {})["conditions"],
    );
    for (const other of others) expect(other).to.deep.equal(first);
  });

  it("show in kubectl get what to look at first", () => {
    const shown = (kind: string) => {
      const spec = crds.get(kind)?.["spec"] as { versions: [{ additionalPrinterColumns: Column[] }] };
      return spec.versions[0].additionalPrinterColumns
        .filter(({ priority = 0 }) => priority === 0)
        .map(({ name }) => name);
    };
    expect(shown("NodeVolumeSet").join(" ")).to.equal("Ready Status Desired Mounted Drifted Conflict Age");
    const volumes = "Node Set Volume Type State Ready Mounts In-Use Waiting Age";
    expect(shown("NodeVolumeIntent").join(" ")).to.equal(volumes);
  });

  it("have no default in an entry of a list: kubectl apply replaces a list that the API server has added to, for ever", () => {
    const defaulted = [...crds].flatMap(([kind, crd]) => defaultsOfEntries(schemaOf(crd), kind, false));
    expect(defaulted).to.deep.equal([]);
  });

  it("have a check in code for every rule that does not compare with the object before", () => {
    const found = rulesIn(schema);
    expect(found.length).to.be.greaterThan(50);
    const ids = found.filter(isByCheck).map(({ check }) => check);
    for (const id of ids) expect(checkOf(id)).to.be.a("function");
    const unused = ruleChecks.map(([id]) => id).filter((id) => !ids.includes(id));
    expect(unused, "checks of no rule").to.deep.equal([]);
  });

  it("have rules whose patterns are regular expressions of JavaScript too", () => {
    for (const { matches, matchesNot, patterns = [] } of rulesIn(schema)) {
      for (const pattern of [matches, matchesNot, ...patterns]) if (pattern !== undefined) new RegExp(pattern, "u");
    }
  });

  it("name a field or a remedy in each message, in a sentence without a full stop", () => {
    const messages = [...crds.values()].flatMap((crd) =>
      allRules(schemaOf(crd)).map((rule) => String(rule["message"])),
    );
    for (const { message } of rulesIn(schema)) messages.push(message);
    expect(messages.filter((text) => text.endsWith(".") || text.length < 15 || text.length > 700)).to.deep.equal([]);
  });
});

interface Column {
  readonly name: string;
  readonly priority?: number;
}

function specOf(kind: string): Schema {
  return fields(schemaOf(crds.get(kind) ?? {}))["spec"] ?? {};
}

function fields(node: Schema): { [name: string]: Schema } {
  return (node["properties"] ?? {}) as { [name: string]: Schema };
}

function rulesOf(node: Schema): Schema[] {
  return (node["x-kubernetes-validations"] ?? []) as Schema[];
}

/** A field without what a set says to people and an intent does not: descriptions and defaults. */
function essence({ type, enum: values }: Schema): Schema {
  return { type, values };
}

/** Paths of fields with a default, in entries of lists and maps. */
function defaultsOfEntries(node: Schema, path: string, inEntry: boolean): string[] {
  const entries = [node["items"], node["additionalProperties"]].filter((entry) => typeof entry === "object");
  return [
    ...(inEntry && node["default"] !== undefined ? [path] : []),
    ...Object.entries(fields(node)).flatMap(([name, field]) => defaultsOfEntries(field, `${path}.${name}`, inEntry)),
    ...entries.flatMap((entry) => defaultsOfEntries(entry as Schema, `${path}[]`, true)),
  ];
}

function allRules(node: unknown): Schema[] {
  if (Array.isArray(node)) return node.flatMap(allRules);
  if (typeof node !== "object" || node === null) return [];
  const rules = rulesOf(node as Schema);
  return [...rules, ...Object.values(node).flatMap(allRules)];
}

function rulesIn(node: unknown): Rule[] {
  if (Array.isArray(node)) return node.flatMap(rulesIn);
  if (typeof node !== "object" || node === null) return [];
  const rules = (node as SchemaNode).rules ?? [];
  return [...rules, ...Object.entries(node).flatMap(([key, value]) => (key === "rules" ? [] : rulesIn(value)))];
}

function isByCheck({ matches, matchesNot, oneOf, from }: Rule): boolean {
  return [matches, matchesNot, oneOf, from].every((form) => form === undefined);
}
