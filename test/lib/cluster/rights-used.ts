// Which rights of config/rbac the project's own programs use, by the audit logs of the clusters that they run in, and
// what they are refused.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load, loadAll } from "js-yaml";
import { root } from "../../../hack/lib/root.ts";

/** Of the roles that a token of ours has. */
export type Account = "agent" | "controller";

const usernameOf = (account: Account) => `system:serviceaccount:nodevolume-system:nodevolume-${account}`;
const accounts: readonly Account[] = ["agent", "controller"];

/** What a cluster of a test writes down: each request with a token of ours, without bodies. */
export const auditOfOurs = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata", users: accounts.map(usernameOf) }, { level: "None" }],
};

interface AuditLine {
  readonly verb: string;
  readonly user?: { readonly username?: string };
  readonly impersonatedUser?: { readonly username?: string };
  readonly userAgent?: string;
  readonly objectRef?: { readonly apiGroup?: string; readonly resource?: string; readonly subresource?: string };
  readonly annotations?: { readonly [key: string]: string };
}

export interface Usage {
  /** Each as `agent: get nodevolumeintents.nodevolume.dev/status`. */
  readonly used: ReadonlySet<string>;
  /** The same, of what RBAC refused. */
  readonly refused: ReadonlySet<string>;
}

/**
 * PURE. What an audit log says of our programs: tests that ask with their tokens are others, and call themselves so.
 */
export function usageOf(log: string): Usage {
  const used = new Set<string>();
  const refused = new Set<string>();
  for (const text of log.split("\n").filter((line) => line !== "")) {
    const line = JSON.parse(text) as AuditLine;
    const account = accounts.find((one) => line.user?.username === usernameOf(one));
    if (account === undefined || !line.userAgent?.startsWith(`nodevolume-${account}/`)) continue;
    if (line.objectRef?.resource === undefined) continue; // /version and the like: nobody is refused these
    const to = line.annotations?.["authorization.k8s.io/decision"] === "forbid" ? refused : used;
    const what = resourceOf(line.objectRef);
    if (line.impersonatedUser === undefined) {
      to.add(`${account}: ${line.verb} ${what}`);
      continue;
    }
    to.add(`${account}: impersonate-on:associated-node:${line.verb} ${what}`);
    to.add(`${account}: impersonate:associated-node nodes.authentication.k8s.io`);
  }
  return { used, refused };
}

function resourceOf({ apiGroup = "", resource = "", subresource }: NonNullable<AuditLine["objectRef"]>): string {
  return nameOf(apiGroup, subresource === undefined ? resource : `${resource}/${subresource}`);
}

/** As kubectl writes it: `nodevolumeintents.nodevolume.dev/status`, `pods`. */
function nameOf(group: string, resource: string): string {
  const [plural = "", subresource] = resource.split("/");
  return `${plural}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
}

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly roleRef?: { readonly name: string };
  readonly subjects?: readonly { readonly name: string }[];
}

/** Each right that config/rbac gives one of our accounts, and how often. */
export function rightsGiven(): Map<string, number> {
  const read = (file: string) => loadAll(readFileSync(join(root, "config/rbac", file), "utf8")) as Role[];
  const objects = [...read("agent.yaml"), ...read("controller.yaml")];
  const given = new Map<string, number>();
  for (const { roleRef, subjects = [] } of objects.filter(({ kind }) => kind.endsWith("Binding"))) {
    const kindOf = (object: Role) => !object.kind.endsWith("Binding") && object.metadata.name === roleRef?.name;
    // A ClusterRole and a Role of one name are both bound by that name.
    for (const { rules = [] } of bound(objects.filter(kindOf), roleRef)) {
      for (const { apiGroups, resources, verbs } of rules)
        for (const group of apiGroups)
          for (const resource of resources)
            for (const verb of verbs)
              for (const account of accounts.filter((one) =>
                subjects.some(({ name }) => name === `nodevolume-${one}`),
              )) {
                const right = `${account}: ${verb} ${nameOf(group, resource)}`;
                given.set(right, (given.get(right) ?? 0) + 1);
              }
    }
  }
  return given;
}

function bound(
  roles: readonly Role[],
  ref: (Role["roleRef"] & { readonly kind?: string }) | undefined,
): readonly Role[] {
  return roles.filter(({ kind }) => kind === ref?.kind);
}

/**
 * Rights that the lane does not see used, or not always, and refusals that it may see, each with why that is as it
 * should be.
 */
export interface Exceptions {
  readonly unused: readonly Exception[];
  readonly sometimes: readonly Exception[];
  readonly refused: readonly Exception[];
}

interface Exception {
  readonly rights: readonly string[];
  readonly why: string;
}

export function readExceptions(): Exceptions {
  return load(readFileSync(join(root, "test/rights-unused.yaml"), "utf8")) as Exceptions;
}

/** PURE. Everything that is not as it should be, a line each. */
export function rightsFindings(
  given: ReadonlyMap<string, number>,
  { used, refused }: Usage,
  listed: Exceptions,
): string[] {
  const unused = new Set(listed.unused.flatMap(({ rights }) => rights));
  const sometimes = new Set(listed.sometimes.flatMap(({ rights }) => rights));
  const expected = new Set(listed.refused.flatMap(({ rights }) => rights));
  const missing = (right: string) => !used.has(right) && !unused.has(right) && !sometimes.has(right);
  return [
    ...[...given.keys()].filter(missing).map((right) => `not used: ${right}`),
    ...[...given].filter(([, times]) => times > 1).map(([right, times]) => `given ${times} times: ${right}`),
    ...[...unused, ...sometimes]
      .filter((right) => !given.has(right))
      .map((right) => `listed as unused, and not given: ${right}`),
    ...[...unused].filter((right) => used.has(right)).map((right) => `listed as unused, and used: ${right}`),
    ...[...refused].filter((right) => !expected.has(right)).map((right) => `refused by RBAC: ${right}`),
  ].sort();
}
