import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { root } from "../../../hack/lib/root.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { differencesOf } from "../../../src/cli/differences.ts";
import { intentsNamed, intentsOf } from "../../../src/cli/find-intents.ts";
import { holdingOf } from "../../../src/cli/holding.ts";
import { troubleWith } from "../../../src/cli/release.ts";
import { podNotReady, podNotReleased, setNotReady, volumesNotReady } from "../../../src/cli/waiting-for.ts";
import { ago, claimVolume, intent, pod, ready, set } from "../../lib/cli-objects.ts";

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
    ["not taken in yet", intent("n.data", granted, {}), ["Mounted Unknown NotObserved"]],
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
      "granted: a set still wants it there",
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
      "released; the controller has not let it go yet",
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
    ["not for what is wanted", intent("n.data", granted), "still wanted"],
    [
      "not for an agent that lives",
      intent("n.data", granted, { agentState: { state: "Live", since: ago(9) } }, deleted),
      "lives and gives data back",
    ],
    ["not for what is only observed", intent("n.data", { mode: "Observe" }, {}, deleted), "only observed"],
  ];
  for (const [what, one, trouble] of rows) {
    it(what, () =>
      trouble === undefined
        ? expect(troubleWith(one)).to.equal(undefined)
        : expect(troubleWith(one)).to.include(trouble),
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
  it("is a node first, also one without volumes; and what is neither is refused with the nearest", () => {
    expect(intentsOf("n1", all, [])).to.have.length(2);
    expect(intentsOf("n3", all, ["n3"])).to.deep.equal([]);
    expect(() => intentsOf("lgos", all, [])).to.throw('there is no node, volume or set "lgos"; did you mean logs?');
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
});
