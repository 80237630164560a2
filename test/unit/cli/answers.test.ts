import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { root } from "../../../hack/lib/root.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { differencesOf, differencesOfSet } from "../../../src/cli/commands/differences.ts";
import { holdingOf } from "../../../src/cli/commands/drained.ts";
import { whyNotReleasable } from "../../../src/cli/commands/release.ts";
import { podNotReady, podNotReleased, setNotReady, volumesNotReady } from "../../../src/cli/commands/waiting-for.ts";
import { intentsNamed, resolveName } from "../../../src/cli/find-intents.ts";
import { typedName } from "../../../src/cli/typed-name.ts";
import { policyBindings } from "../../../src/kube/policies/policies.ts";
import { ago, claimVolume, intent, pod, ready, set } from "../../lib/builders/cli-objects.ts";

const requester = { kind: "NodeVolumeSet", name: "data", uid: "u" } as const;
const mounts = [{ name: "host", requester, path: "/mnt/nodevolume/data", readOnly: false }];
const target = (state: "Mounted" | "Absent" | "Foreign", more = {}) => [
  { name: "host", path: "/mnt/nodevolume/data", state, ...more },
];
const granted = { grant: { id: "g" }, mounts };
const deleted = { deletionTimestamp: ago(60) };

describe("differencesOf", () => {
  const short = (one: NodeVolumeIntent) =>
    differencesOf(one).map(({ wanted, actual, reason }) => `${wanted} ${actual} ${reason}`);
  const pods = [{ uid: "p", namespace: "shop", name: "web", volume: "data", readOnly: false }];
  const rows: readonly [what: string, one: NodeVolumeIntent, differences: string[]][] = [
    ["as wanted", intent("n.data", granted, { mounts: target("Mounted") }), []],
    ["not observed yet", intent("n.data", granted, {}), ["Mounted Unknown NotObserved"]],
    [
      "foreign",
      intent("n.data", granted, { mounts: target("Foreign", { reason: "ForeignMount" }) }),
      ["Mounted Foreign ForeignMount"],
    ],
    [
      "mounted, and drifted",
      intent("n.data", granted, { mounts: target("Mounted", { drift: "OptionsDiffer" }) }),
      ["Mounted Mounted OptionsDiffer"],
    ],
    [
      "no longer wanted",
      intent("n.data", { ...granted, mounts: [] }, { mounts: target("Mounted", { reason: "TargetBusy" }) }),
      ["Absent Mounted TargetBusy"],
    ],
    [
      "being deleted, unmounted, perhaps in use",
      intent(
        "n.data",
        granted,
        { state: "Unmounting", waiting: { reason: "StillReferenced", message: "", since: ago(1) } },
        deleted,
      ),
      ["Released Unmounting StillReferenced"],
    ],
    ["being deleted, and released", intent("n.data", granted, { state: "Released", inUse: false }, deleted), []],
    [
      "a pod without its bind",
      intent(
        "n.data",
        { mounts: [], pods },
        { pods: [{ uid: "p", volume: "data", state: "Absent", reason: "SetUpFailed" }] },
      ),
      ["Mounted Absent SetUpFailed"],
    ],
    [
      "mounted at its agent's last report",
      intent(
        "n.data",
        { ...granted, pods },
        {
          mounts: target("Mounted"),
          pods: [{ uid: "p", volume: "data", state: "Mounted" }],
          agentState: { state: "Lost", since: ago(400) },
        },
      ),
      ["Mounted Unknown AgentLost", "Mounted Unknown AgentLost"],
    ],
    [
      "drift of the volume alone",
      intent("n.data", {}, { state: "Degraded", drift: { class: "Missing", message: "gone", since: ago(1) } }),
      ["as it was left Degraded Missing"],
    ],
  ];
  for (const [what, one, differences] of rows) it(what, () => expect(short(one)).to.deep.equal(differences));
});

describe("holdingOf", () => {
  const rows: readonly [what: string, one: NodeVolumeIntent, why: string | undefined][] = [
    ["granted and in use", intent("n.data", granted, { inUse: true }), "in use"],
    ["granted, and nobody has said", intent("n.data", granted, {}), "perhaps in use"],
    [
      "granted, not in use, still wanted",
      intent("n.data", granted, { inUse: false }),
      "granted: a set still uses it there",
    ],
    ["never granted", intent("n.data", { mounts }, { inUse: false }), undefined],
    ["never granted, and nobody has said", intent("n.data", { mounts }, {}), undefined],
    ["in use without a grant", intent("n.data", { mounts }, { inUse: true }), "in use"],
    [
      "released, of another grant",
      intent("n.data", granted, { inUse: false, state: "Released", grantID: "old" }, deleted),
      "its release is not acknowledged",
    ],
    [
      "released, of an earlier generation",
      intent("n.data", granted, { inUse: false, state: "Released", grantID: "g", observedGeneration: 0 }, deleted),
      "its release is not acknowledged",
    ],
    [
      "released",
      intent("n.data", granted, { inUse: false, state: "Released", grantID: "g" }, deleted),
      "released; the controller has not removed it yet",
    ],
    ["only observed", intent("n.data", { mode: "Observe" }, { inUse: true }), undefined],
  ];
  for (const [what, one, why] of rows) it(what, () => expect(holdingOf(one)?.why).to.equal(why));
});

describe("release", () => {
  const rows: readonly [what: string, one: NodeVolumeIntent, trouble: string | undefined][] = [
    ["is for what is being deleted", intent("n.data", granted, {}, deleted), undefined],
    [
      "of an agent that is lost",
      intent("n.data", granted, { agentState: { state: "Lost", since: ago(9) } }, deleted),
      undefined,
    ],
    ["not for what is wanted", intent("n.data", granted), "still in use by a set"],
    [
      "not for an agent that lives",
      intent("n.data", granted, { agentState: { state: "Live", since: ago(9) } }, deleted),
      "is alive and releases data",
    ],
    ["not for what is only observed", intent("n.data", { mode: "Observe" }, {}, deleted), "only observed"],
  ];
  for (const [what, one, trouble] of rows) {
    it(what, () =>
      trouble === undefined
        ? expect(whyNotReleasable(one)).to.equal(undefined)
        : expect(whyNotReleasable(one)).to.include(trouble),
    );
  }
});

describe("wait", () => {
  const well = { state: "Mounted", conditions: ready("True", "Mounted") } as const;
  it("for a set: its newest spec, and Ready", () => {
    const status = (generation: number, word: "True" | "False") => ({
      observedGeneration: generation,
      desired: 2,
      ready: 1,
      conditions: ready(word, "NodesNotReady"),
    });
    expect(setNotReady(set("data", {}, status(1, "True")))).to.equal(undefined);
    expect(setNotReady(set("data", {}, status(0, "True")))).to.include("newest spec");
    expect(setNotReady(set("data", {}, status(1, "False")))).to.equal("1 of 2 nodes are ready, NodesNotReady");
    const nowhere = { observedGeneration: 1, desired: 0, conditions: ready("False", "NoNodesSelected", "no Node") };
    expect(setNotReady(set("data", {}, nowhere))).to.equal("no Node (NoNodesSelected)");
    const invalid = { observedGeneration: 1, desired: 0, conditions: ready("False", "Invalid", ".spec.mode: wrong") };
    expect(setNotReady(set("data", {}, invalid))).to.equal(".spec.mode: wrong (Invalid)");
    expect(setNotReady(undefined)).to.include("not there");
  });
  it("for volumes: each of them, by a status of this very object", () => {
    expect(volumesNotReady([intent("n.data", {}, well)])).to.equal(undefined);
    expect(volumesNotReady([intent("n.data", {}, { ...well, observedUID: "of-another" })])).to.include(
      "data on n: Mounted",
    );
    expect(
      volumesNotReady([
        intent("n.data", {}, well),
        intent("m.data", {}, { state: "Waiting", waiting: { reason: "TargetBusy", message: "pid 7", since: ago(1) } }),
      ]),
    ).to.equal("data on m: TargetBusy (pid 7)");
    expect(volumesNotReady([])).to.include("no intent");
  });
  it("for a pod: until its containers may start, and until nothing names it", () => {
    expect(podNotReady(pod("web", claimVolume("pg"), { node: "n", started: true }))).to.equal(undefined);
    expect(podNotReady(pod("web", claimVolume("pg"), { node: "n" }))).to.include("not mounted yet");
    const mayStart = { conditions: [{ type: "PodReadyToStartContainers", status: "True" }] };
    expect(podNotReady(pod("web", claimVolume("pg"), { node: "n", status: mayStart }))).to.equal(undefined);
    const named = intent("n.data", {
      pods: [{ uid: "p", namespace: "shop", name: "web", volume: "data", readOnly: false }],
    });
    expect(podNotReleased({ namespace: "shop", name: "web" }, [named])).to.include("still names it");
    expect(podNotReleased({ namespace: "lab", name: "web" }, [named])).to.equal(undefined);
  });
});

describe("intentsNamed", () => {
  const of = (set: string) => ({ labels: { [`set.nodevolume.dev/${set}`]: "" } });
  const all = [intent("n1.data", {}, {}, of("sets")), intent("n2.data", {}, {}, of("sets")), intent("n1.logs", {})];
  const names = (word: string) => intentsNamed(word, all).map(({ metadata }) => metadata.name);
  it("means an intent, a volume, a set, or one of a node", () => {
    expect(names("n1.data")).to.deep.equal(["n1.data"]);
    expect(names("data")).to.deep.equal(["n1.data", "n2.data"]);
    expect(names("sets")).to.deep.equal(["n1.data", "n2.data"]);
    expect(names("n2/data")).to.deep.equal(["n2.data"]);
    expect(names("dat")).to.deep.equal([]);
  });
});

describe("resolveName", () => {
  const labels = { "set.nodevolume.dev/sets": "" };
  const intents = [intent("n1.data", {}, {}, { labels }), intent("n2.data", {}, {}, { labels }), intent("n1.logs", {})];
  const sets = [set("sets"), set("outside")];
  const known = { intents, sets, nodes: ["n3"] };
  const rows: readonly [word: string, intents: string[], sets: string[]][] = [
    ["n1", ["n1.data", "n1.logs"], ["sets", "outside"]],
    ["n3", [], ["sets", "outside"]],
    ["node/n1", ["n1.data", "n1.logs"], ["sets", "outside"]],
    ["nvstate/n1", ["n1.data", "n1.logs"], ["sets", "outside"]],
    ["data", ["n1.data", "n2.data"], []],
    ["volume/logs", ["n1.logs"], []],
    ["n2/data", ["n2.data"], []],
    ["sets", ["n1.data", "n2.data"], ["sets"]],
    ["nvs/sets", ["n1.data", "n2.data"], ["sets"]],
    ["outside", [], ["outside"]],
    ["set/outside", [], ["outside"]],
    ["nodevolumeset.nodevolume.dev/outside", [], ["outside"]],
    ["nvi/n1.logs", ["n1.logs"], []],
    ["nodevolumeintents.v1alpha1.nodevolume.dev/n1.logs", ["n1.logs"], []],
  ];
  for (const [word, volumes, ofSets] of rows)
    it(word, () => {
      const meant = resolveName(word, known);
      const names = (objects: readonly { metadata: { name: string } }[]) =>
        objects.map(({ metadata }) => metadata.name);
      expect([names(meant.intents), names(meant.sets)]).to.deep.equal([volumes, ofSets]);
    });

  const refused: readonly [word: string, message: string][] = [
    ["lgos", 'there is no node, volume or set "lgos"; did you mean logs?'],
    ["otside", 'there is no node, volume or set "otside"; did you mean outside?'],
    ["set/otside", 'there is no set "otside"; did you mean outside?'],
    ["set/logs", 'there is no set "logs"'],
    ["node/n4", 'there is no node "n4"; did you mean n3?'],
    ["nvi/n1.lgos", 'there is no intent "n1.lgos"; did you mean n1.logs?'],
    ["pod/web", "pod/web is not a node, a set or a volume: kubectl nvi explain pod/web explains its volumes"],
    ["set/", "set/ needs a name after it"],
  ];
  for (const [word, message] of refused)
    it(`refuses ${word}`, () => expect(() => resolveName(word, known)).to.throw(message));

  it("a node may have the name of a kind, as long as no volume follows that is one's own", () =>
    expect([typedName("pod"), typedName("n1/data")]).to.deep.equal([undefined, undefined]));
});

describe("differencesOfSet", () => {
  const spec = { mounts: [{ name: "host", path: "/mnt/nodevolume/a" }] } as never;
  const status = (reason: string, more = {}) => ({
    observedGeneration: 1,
    conditions: ready("False", reason, "m"),
    ...more,
  });
  const failing = ["n1", "n2"].map((node) => ({ node, reason: "PathNotAllowed", message: "not beneath" }));
  const short = (one: ReturnType<typeof set>, intents: readonly NodeVolumeIntent[] = [], node?: string) =>
    differencesOfSet(one, intents, node).map((row) => `${row.node} ${row.target} ${row.actual} ${row.reason}`);
  const outside = set("outside", spec, status("NodesNotReady", { failing }));

  it("has a line for each node of which only the set says why nothing is there", () => {
    const row = (node: string) => `${node} /mnt/nodevolume/a Absent PathNotAllowed`;
    expect(short(outside)).to.deep.equal([row("n1"), row("n2")]);
    expect(short(outside, [intent("n1.a", {})])).to.deep.equal([row("n2")]);
    expect(short(outside, [], "n2")).to.deep.equal([row("n2")]);
    expect(short(outside, [], "n3")).to.deep.equal([]);
  });

  it("has one without a node where the set itself is in the way", () => {
    expect(short(set("newer", spec, status("Invalid")))).to.deep.equal([" /mnt/nodevolume/a Unknown Invalid"]);
    expect(short(set("fresh", spec, {}))).to.deep.equal([" /mnt/nodevolume/a Unknown NotObserved"]);
  });

  it("has none of a set that wants nothing, or is going", () => {
    const nowhere = { observedGeneration: 1, conditions: ready("False", "NoNodesSelected") };
    expect(short(set("nowhere", spec, nowhere))).to.deep.equal([]);
    expect(short({ ...outside, metadata: { ...outside.metadata, ...deleted } })).to.deep.equal([]);
  });
});

describe("config/components/nvi-viewer and support-bundle", () => {
  for (const [component, fewest] of [
    ["nvi-viewer", 4],
    ["support-bundle", 3],
  ] as const) {
    it(`reads only, and nothing secret: ${component}`, () => {
      const text = readFileSync(join(root, `config/components/${component}/role.yaml`), "utf8");
      const rules = (loadAll(text) as { rules: { resources: string[]; verbs: string[] }[] }[]).flatMap(
        (role) => role.rules,
      );
      expect(rules.length).to.be.at.least(fewest);
      expect(rules.flatMap(({ verbs }) => verbs)).to.satisfy((verbs: string[]) =>
        verbs.every((verb) => ["get", "list", "watch"].includes(verb)),
      );
      const resources = rules.flatMap((rule) => rule.resources);
      const others = component === "nvi-viewer" ? ["configmaps", "pods/log"] : [];
      for (const secret of ["secrets", "*", "pods/proxy", "pods/exec", ...others])
        expect(resources).not.to.include(secret);
    });
  }

  it("nvi-viewer may read by name what check looks at: each policy and binding, and the two workloads", () => {
    const text = readFileSync(join(root, "config/components/nvi-viewer/role.yaml"), "utf8");
    const rules = (loadAll(text) as { rules: { resources: string[]; resourceNames?: string[] }[] }[]).flatMap(
      (role) => role.rules,
    );
    const named = (resource: string) =>
      rules.filter(({ resources }) => resources.includes(resource)).map(({ resourceNames }) => resourceNames);
    const guards = [...new Set(policyBindings.flat())].sort();
    expect(named("validatingadmissionpolicies")).to.deep.equal([guards]);
    expect(named("validatingadmissionpolicybindings")).to.deep.equal([guards]);
    expect(named("mutatingadmissionpolicies")).to.deep.equal([["nodevolume-gates"]]);
    expect(named("daemonsets")).to.deep.equal([["nodevolume-agent"]]);
    expect(named("deployments")).to.deep.equal([["nodevolume-controller"]]);
  });
});
