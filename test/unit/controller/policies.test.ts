import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { root } from "../../../hack/lib/root.ts";
import { policiesMissing, policyBindings } from "../../../src/controller/policies.ts";
import { setStatus } from "../../../src/controller/set-status.ts";
import { createKubeClient } from "../../../src/kube/client.ts";
import { createFakeApiServer } from "../fake-api-server.ts";
import { virtualSystem } from "../kube/virtual-system.ts";
import { setEntry } from "./objects.ts";

interface Rules {
  kind: string;
  metadata: { name: string };
  spec: {
    policyName?: string;
    validationActions?: string[];
    failurePolicy?: string;
    matchConstraints?: Match;
    matchResources?: Match;
    matchConditions?: { name: string; expression: string }[];
    variables?: { name: string; expression: string }[];
    validations?: { expression: string; message?: string }[];
    paramRef?: object;
  };
}

interface Match {
  resourceRules?: object[];
  excludeResourceRules?: object[];
  namespaceSelector?: object;
  objectSelector?: object;
  matchPolicy?: string;
}

/** As the API server keeps and shows it: with its defaults (SetDefaults_MatchResources and the like), and named lists in its own order. */
function defaulted(rules: Rules): Rules {
  const filled = ({ resourceRules, ...match }: Match): Match => ({
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
    ...match,
    ...(resourceRules && { resourceRules: resourceRules.map((rule) => ({ scope: "*", ...rule })) }),
  });
  const { matchConstraints, matchConditions, variables } = rules.spec;
  const spec = {
    ...rules.spec,
    ...(!rules.kind.endsWith("Binding") && { failurePolicy: "Fail" }),
    ...(matchConstraints && { matchConstraints: filled(matchConstraints) }),
    ...(matchConditions && { matchConditions: matchConditions.toReversed() }),
    ...(variables && { variables: variables.toReversed() }),
    aFieldOfLater: "its default",
  };
  return { ...rules, spec };
}

const shipped = globSync("config/policy/*.yaml", { cwd: root }).flatMap(
  (file) => loadAll(readFileSync(join(root, file), "utf8")) as Rules[],
);
const ofKind = (kind: string) => shipped.filter((one) => one.kind === kind);

describe("policiesMissing", () => {
  const kinds = {
    validatingadmissionpolicies: "ValidatingAdmissionPolicy",
    validatingadmissionpolicybindings: "ValidatingAdmissionPolicyBinding",
  };

  function story(change: (rules: Rules) => Rules | undefined = (rules) => rules) {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    for (const [plural, kind] of Object.entries(kinds)) {
      for (const rules of ofKind(kind)) {
        const changed = change(structuredClone(rules));
        if (changed !== undefined) api.apply(plural, changed as never);
      }
    }
    /** What is said, or the error that says nothing. */
    const look = async () => {
      const client = createKubeClient({ transport: api, fieldManager: "test" });
      const said = policiesMissing(client).catch((error: Error) => error.name);
      await system.advance(1_000);
      return said;
    };
    return { api, look };
  }

  it("asks for every binding of config/policy, with its policy", () => {
    const bindings = ofKind("ValidatingAdmissionPolicyBinding").map(({ metadata, spec }) => [
      metadata.name,
      spec.policyName,
    ]);
    expect(policyBindings).to.have.deep.members(bindings);
    const named = new Set(policyBindings.map(([, policy]) => policy));
    expect([...named]).to.have.members(ofKind("ValidatingAdmissionPolicy").map(({ metadata }) => metadata.name));
  });

  it("finds nothing missing where config/policy was applied as it is", async () => {
    expect(await story().look()).to.equal(undefined);
  });

  it("nor where the API server has filled in its defaults, or somebody has put other words", async () => {
    expect(await story(defaulted).look()).to.equal(undefined);
    const translated = (rules: Rules) => {
      const validations = rules.spec.validations?.map((each) => ({ ...each, message: "nein" }));
      return { ...rules, spec: { ...rules.spec, ...(validations && { validations }) } };
    };
    expect(await story(translated).look()).to.equal(undefined);
  });

  const binding = (rules: Rules) => rules.kind.endsWith("Binding") && rules.metadata.name === "nodevolume-intents";
  const policy = (rules: Rules) => !rules.kind.endsWith("Binding") && rules.metadata.name === "nodevolume-intents";
  const some = { matchLabels: { only: "some" } };
  const never = { name: "never", expression: "false" };
  const broken: readonly [what: string, change: (rules: Rules) => Rules | undefined, says: string][] = [
    [
      "a binding",
      (r) => (binding(r) ? undefined : r),
      "there is no ValidatingAdmissionPolicyBinding nodevolume-intents",
    ],
    ["a policy", (r) => (policy(r) ? undefined : r), "there is no ValidatingAdmissionPolicy nodevolume-intents"],
    [
      "a binding that only warns",
      (r) => (binding(r) ? { ...r, spec: { ...r.spec, validationActions: ["Warn"] } } : r),
      "the binding nodevolume-intents does not deny",
    ],
    [
      "a binding of another policy",
      (r) => (binding(r) ? { ...r, spec: { ...r.spec, policyName: "mine" } } : r),
      "names another policy than nodevolume-intents",
    ],
    [
      "a policy whose failures are ignored",
      (r) => (policy(r) ? { ...r, spec: { ...r.spec, failurePolicy: "Ignore" } } : r),
      "the policy nodevolume-intents ignores its failures",
    ],
  ];
  const narrowed: readonly [
    what: string,
    of: (rules: Rules) => boolean,
    change: (spec: Rules["spec"]) => Rules["spec"],
  ][] = [
    ["a binding for some namespaces", binding, (s) => ({ ...s, matchResources: { namespaceSelector: some } })],
    ["a binding for some objects", binding, (s) => ({ ...s, matchResources: { objectSelector: some } })],
    [
      "a binding with parameters",
      binding,
      (s) => ({ ...s, paramRef: { name: "a", parameterNotFoundAction: "Allow" } }),
    ],
    ["a condition more", policy, (s) => ({ ...s, matchConditions: [...(s.matchConditions ?? []), never] })],
    ["a condition of another kind", policy, (s) => ({ ...s, matchConditions: [never] })],
    [
      "a variable",
      policy,
      (s) => ({ ...s, variables: s.variables?.map((one) => ({ ...one, expression: "true" })) ?? [] }),
    ],
    ["a rule less", policy, (s) => ({ ...s, validations: s.validations?.slice(1) ?? [] })],
    ["a rule that is always true", policy, (s) => ({ ...s, validations: [{ expression: "true" }] })],
    ["other objects", policy, (s) => ({ ...s, matchConstraints: { ...s.matchConstraints, resourceRules: [] } })],
    [
      "an exception",
      policy,
      (s) => ({ ...s, matchConstraints: { ...s.matchConstraints, excludeResourceRules: [{ resources: ["*"] }] } }),
    ],
    ["exact versions", policy, (s) => ({ ...s, matchConstraints: { ...s.matchConstraints, matchPolicy: "Exact" } })],
  ];
  for (const [what, of, change] of narrowed) {
    it(`says that what is there is not what was shipped: ${what}`, async () => {
      const said = await story((rules) => (of(rules) ? { ...rules, spec: change(rules.spec) } : rules)).look();
      expect(said).to.contain("nodevolume-intents is not that of config/policy").and.contain("apply config/policy");
    });
  }

  for (const [what, change, says] of broken) {
    it(`says of ${what} what is wrong, and what to do`, async () => {
      const said = await story(change).look();
      expect(said).to.contain(says).and.contain("apply config/policy");
    });
  }

  it("says that it may not read them, and does not take that for missing nothing", async () => {
    const { api, look } = story();
    api.fault = ({ path }) => (path.includes("/nodevolume-agents") ? { status: 403 } : undefined);
    expect(await look()).to.contain("ValidatingAdmissionPolicyBinding nodevolume-agents cannot be read");
  });

  it("says nothing while the server has no answer", async () => {
    const { api, look } = story();
    api.fault = () => ({ when: "before" });
    expect(await look()).to.equal("TransportError");
  });
});

describe("setStatus, of policies", () => {
  const rollout = { admitted: new Set<string>(), pausedBy: undefined, outdated: 0 };
  const about = { entry: setEntry("a"), nodes: [], rollout, remaining: { intents: 0, lost: [] }, pods: undefined };
  const conditions = (unguarded?: string) =>
    setStatus({ ...about, unguarded }, 0).conditions?.map(({ type, status, reason }) => `${type}=${status}/${reason}`);

  it("says that one is not in force, beside all else, and only then", () => {
    const others = ["Ready=True/NoNodes", "Conflict=False/NoConflict"];
    expect(conditions("there is no policy")).to.deep.equal([...others, "PoliciesInForce=False/PolicyMissing"]);
    expect(conditions()).to.deep.equal(others);
  });
});
