import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { readMatrix } from "../../../hack/lib/authorization-matrix.ts";
import { root } from "../../../hack/lib/root.ts";

interface Role {
  readonly kind: string;
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const verbsOfApi = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

describe("authorization matrix, as a file", () => {
  const { rows } = readMatrix();
  const asked = new Map<string, Set<string>>();
  for (const { path, subresource, verbs } of rows) {
    const [, of = "", rest = ""] = /^\/(?:api|apis\/([^/]+))\/v[^/]+\/(.+)$/.exec(path) ?? [];
    const plural = rest.replace(/^namespaces\/[^/]+\//, "");
    const key = `${of} ${plural}${subresource === undefined ? "" : `/${subresource}`}`;
    asked.set(key, new Set([...(asked.get(key) ?? []), ...verbs]));
  }

  for (const file of globSync("config/{rbac,components/*}/*.yaml", { cwd: root }).sort()) {
    const roles = (loadAll(readFileSync(join(root, file), "utf8")) as Role[]).filter(({ kind }) => /Role$/.test(kind));
    if (roles.length === 0) continue;
    it(`asks for every verb and resource that ${file} grants`, () => {
      // What is no resource (nonResourceURLs) is no object of the API.
      for (const { apiGroups = [], resources = [], verbs } of roles.flatMap(({ rules = [] }) => rules)) {
        for (const group of apiGroups) {
          for (const resource of resources) {
            const granted = verbs.filter((verb) => verbsOfApi.includes(verb));
            expect([...(asked.get(`${group} ${resource}`) ?? [])], `${group} ${resource}`).to.include.members(granted);
          }
        }
      }
    });
  }

  const file = (row: string) => `
identities: {agent: the agent, controller: the controller}
groups: {both: [agent, controller]}
rows:
  - {group: Things, path: /api/v1/things, verbs: get list, objects: [{what: one, name: a, ${row}}]}`;
  const wrong = [
    ["an identity that there is not", "may: {nobody: get}", "no such identity: nobody"],
    ["a verb that there is not", "may: {agent: look}", "no such verb: look"],
    ["a verb that is not asked", "may: {agent: watch}", "not asked: Things, one: agent watch"],
    ["what is said twice", "may: {both: get, agent: get}", "said twice: Things, one: agent get"],
  ] as const;
  for (const [what, row, message] of wrong) {
    it(`refuses ${what}`, () => expect(() => readMatrix(file(row))).to.throw(message));
  }

  it("forbids what is said nowhere", () => {
    const [row] = readMatrix(file("may: {agent: get}, policy: {p: {both: list}}")).rows;
    const verdicts = (["get", "list"] as const).flatMap((verb) =>
      ["agent", "controller"].map((who) => row?.verdict(who, verb)),
    );
    expect(verdicts).to.deep.equal(["allowed", "RBAC", "p", "p"]);
  });
});
