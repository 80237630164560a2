import { expect } from "chai";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import {
  controllerSentence,
  inspectPolicies,
  policyBindings,
  policySentence,
} from "../../../../src/kube/policies/policies.ts";
import { policyDigest } from "../../../../src/kube/policies/policy-digest.ts";
import { createFakeApiServer } from "../../fake-api-server.ts";
import { applyPolicies, type Match, ofKind, type Rules } from "../../shipped-policies.ts";
import { virtualSystem } from "../virtual-system.ts";

/**
 * As the API server keeps and shows it: with its defaults (SetDefaults_MatchResources and the like), and named lists in
 * its own order.
 */
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

describe("inspectPolicies", () => {
  function story(change: (rules: Rules) => Rules | undefined = (rules) => rules) {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    applyPolicies(api, change);
    const findings = async (accepted?: Parameters<typeof inspectPolicies>[2]) => {
      const client = createKubeClient({ transport: api, fieldManager: "test" });
      const found = inspectPolicies(client, policyBindings, accepted);
      found.catch(() => {});
      await system.advance(1_000);
      return (await found).findings;
    };
    /** What is said, or the error that says nothing. */
    const look = (accepted?: Parameters<typeof inspectPolicies>[2]) =>
      findings(accepted).then(policySentence, (error: Error) => error.name);
    return { api, look, findings };
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
      expect(said).to.match(
        / nodevolume-intents \(generation 1\) is not that of config\/policy .*: apply config\/policy$/,
      );
    });
  }

  for (const [what, change, says] of broken) {
    it(`says of ${what} what is wrong, and what to do`, async () => {
      const said = await story(change).look();
      expect(said).to.contain(says).and.contain("apply config/policy");
    });
  }

  it("tells what refuses nothing from what is another: that may be somebody's purpose", async () => {
    for (const [, change] of broken) {
      expect((await story(change).findings()).map(({ gone }) => gone)).to.deep.equal([true]);
    }
    const other = story((rules) => (policy(rules) ? { ...rules, spec: { ...rules.spec, validations: [] } } : rules));
    expect(await other.findings())
      .to.have.length(1)
      .and.to.have.deep.nested.property("[0].gone", false);
  });

  it("takes another for right where its digest was accepted, and only for that, and never one that refuses nothing", async () => {
    const more = (rules: Rules) =>
      policy(rules) ? { ...rules, spec: { ...rules.spec, variables: [{ name: "mine", expression: "true" }] } } : rules;
    const said = await story(more).look();
    const [, digest = ""] = /its digest is ([0-9a-f]{16}):/.exec(said ?? "") ?? [];
    expect(digest).not.to.equal("");
    const accepted = (name: string, of = digest) => new Map([[name, new Set(["0".repeat(16), of])]]);
    expect(await story(more).look(accepted("nodevolume-intents"))).to.equal(undefined);
    expect(await story(more).look(accepted("nodevolume-pods"))).to.equal(said);
    const another = (rules: Rules) => (policy(rules) ? { ...rules, spec: { ...rules.spec, validations: [] } } : rules);
    expect(await story(another).look(accepted("nodevolume-intents"))).to.contain("is not that of config/policy");
    const ignoring = (rules: Rules) =>
      policy(rules) ? { ...rules, spec: { ...rules.spec, failurePolicy: "Ignore" } } : rules;
    const ofIgnoring = policyDigest(ignoring(ofKind("ValidatingAdmissionPolicy").find(policy) as Rules).spec);
    const all = accepted("nodevolume-intents", ofIgnoring.slice(0, 16));
    expect(await story(ignoring).look(all)).to.contain("ignores its failures");
  });

  it("says what the controller does not do without the policy of the agents, and of no other, and agents say nothing of it", async () => {
    const found = (name: string) => story((rules) => (rules.metadata.name === name ? undefined : rules)).findings();
    const without = async (name: string) => controllerSentence(await found(name));
    expect(policySentence(await found("nodevolume-agents"))).to.match(/apply config\/policy$/);
    expect(await without("nodevolume-agents")).to.contain(
      "no acknowledgement of an agent counts, and nothing is detached",
    );
    expect(await without("nodevolume-pods")).to.match(/apply config\/policy$/);
  });

  it("says that it may not read them, and does not take that for missing nothing", async () => {
    const { api, look } = story();
    api.fault = ({ path }) => (path.includes("/nodevolume-agents") ? { status: 403 } : undefined);
    expect(await look()).to.contain("ValidatingAdmissionPolicyBinding nodevolume-agents cannot be read");
  });

  it("says nothing while the server has no answer, or something before it has", async () => {
    const { api, look } = story();
    api.fault = () => ({ when: "before" });
    expect(await look()).to.equal("TransportError");
    for (const status of [200, 403, 404]) {
      api.fault = () => ({ status, body: "<html>" });
      expect(await look()).to.equal("TransportError");
    }
  });

  it("says that all are missing where the server does not serve them", async () => {
    const { api, findings } = story();
    api.fault = () => ({ status: 404, body: "404 page not found\n" });
    const found = await findings();
    expect(found.map(({ gone }) => gone)).to.deep.equal(policyBindings.map(() => true));
  });
});
