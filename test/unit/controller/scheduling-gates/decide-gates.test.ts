import { expect } from "chai";
import { allowing } from "../../../../hack/lib/allowing.ts";
import { projectPod } from "../../../../src/controller/model/pod-entry.ts";
import type { SetEntry } from "../../../../src/controller/model/projections.ts";
import {
  projectClaim,
  projectPersistentVolume,
  projectStorageClass,
} from "../../../../src/controller/model/storage-objects.ts";
import { consentOf } from "../../../../src/controller/queues/connect-consents.ts";
import { decideGates, type GateFacts } from "../../../../src/controller/scheduling-gates/decide-gates.ts";
import { type SetOptions, setEntry } from "../objects.ts";

const zone = { matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] };

function podOf(volumes: { [name: string]: object }, gates = ["nodevolume.dev/volumes"]) {
  const names = Object.keys(volumes);
  const pod = projectPod({
    metadata: { name: "p", namespace: "team", uid: "uid-p" },
    spec: {
      schedulingGates: gates.map((name) => ({ name })),
      containers: [{ volumeMounts: names.map((name) => ({ name })) }],
      volumes: names.map((name) => ({ name, csi: { driver: "csi.nodevolume.dev", volumeAttributes: volumes[name] } })),
    },
  });
  if (pod === undefined) throw new Error("no pod");
  return pod;
}

const claim = (more = {}) => ({
  metadata: { name: "data", namespace: "team", uid: "uid-data" },
  spec: { volumeName: "pv", storageClassName: "fast" },
  status: { phase: "Bound" },
  ...more,
});
const unbound = claim({ spec: { storageClassName: "fast" }, status: { phase: "Pending" } });
const volume = {
  metadata: { name: "pv" },
  spec: {
    csi: { driver: "d", volumeHandle: "h" },
    claimRef: { namespace: "team", name: "data", uid: "uid-data" },
    nodeAffinity: { required: { nodeSelectorTerms: [zone] } },
  },
};

interface World {
  readonly sets?: SetEntry[];
  readonly claim?: object;
  readonly mode?: "Immediate" | "WaitForFirstConsumer";
  readonly unknown?: boolean;
}

const facts = ({ sets = [], claim: raw, mode = "Immediate", unknown }: World): GateFacts => ({
  set: (name) => sets.find(({ metadata }) => metadata.name === name),
  labelsOf: () => ({ team: "yes" }),
  claims: unknown
    ? undefined
    : {
        claim: () => projectClaim(raw),
        persistentVolume: () => projectPersistentVolume(volume),
        storageClass: (name) => projectStorageClass({ metadata: { name }, provisioner: "p", volumeBindingMode: mode }),
        csiDriver: () => undefined,
      },
  consent: consentOf(
    {
      claims: { store: { get: () => projectClaim(raw) } } as never,
      persistentVolumes: { store: { get: () => projectPersistentVolume(volume) } } as never,
      complete: () => unknown !== true,
    },
    () => [projectClaim(raw)].flatMap((one) => one ?? []),
  ),
});
const set = (name: string, spec: SetOptions["spec"] = {}, more: SetOptions = {}) =>
  setEntry(name, { ...more, spec: { allowedNamespaces: { names: ["team"] }, ...spec } });
const ready = (entry: SetEntry): SetEntry => ({ ...entry, status: { ready: 1 } });

const say = (decision: ReturnType<typeof decideGates>) =>
  decision === undefined
    ? "?"
    : "wait" in decision
      ? decision.wait.reason
      : JSON.stringify({ ...decision.demand.nodeSelector, terms: decision.demand.terms?.length });

const ofClaim = set("a", {
  nodeSelector: { x: "1" },
  volume: { source: { persistentVolumeClaim: { namespace: "team", claimName: "data" } } },
});
const ofHandle = set("a", { volume: { source: { csi: { driver: "d", volumeHandle: "h" } } } });
const allowingA = claim({ metadata: { ...claim().metadata, labels: allowing("a") } });

describe("decideGates", () => {
  const a = { v: { set: "a" } };
  const data = { v: { persistentVolumeClaim: "data" } };
  const cases: [what: string, volumes: { [name: string]: object }, world: World, expected: string][] = [
    ["a set that is not there", a, {}, "SetNotFound"],
    [
      "a set that allows the namespace, and its nodes",
      a,
      { sets: [set("a", { nodeSelector: { gpu: "yes" } })] },
      '{"gpu":"yes"}',
    ],
    [
      "a set that allows none",
      a,
      { sets: [set("a", { allowedNamespaces: { names: ["other"] } })] },
      "NamespaceNotAllowed",
    ],
    ["a set that goes", a, { sets: [set("a", {}, { deleted: true })] }, "SetNotServing"],
    ["a set that only observes", a, { sets: [set("a", { mode: "Observe" })] }, "SetNotServing"],
    ["a bound claim, and where its PersistentVolume is", data, { claim: claim() }, '{"terms":1}'],
    ["no such claim", data, {}, "ClaimNotFound"],
    ["a claim that somebody has to bind", data, { claim: unbound }, "ClaimNotBound"],
    ["a claim that waits for its first consumer", data, { claim: unbound, mode: "WaitForFirstConsumer" }, "{}"],
    ["claims that are not known yet", data, { unknown: true }, "?"],
    ["what cannot be meant", { v: { sets: "a" } }, {}, "Invalid"],
    [
      "a set and a claim on nodes that exclude each other",
      { v: { set: "a" }, w: { set: "b" } },
      { sets: [set("a", { nodeSelector: { x: "1" } }), set("b", { nodeSelector: { x: "2" } })] },
      "NodeAffinityConflict",
    ],
    ["a set of a volume by its handle", a, { sets: [ofHandle], claim: allowingA }, "{}"],
    ["a set of a volume whose claim does not allow it", a, { sets: [ofHandle], claim: claim() }, "ClaimNotAllowed"],
    ["a set of a volume by its handle while claims are read", a, { sets: [ofHandle], unknown: true }, "?"],
    ["a set of a claim: where both are", a, { sets: [ofClaim], claim: allowingA }, '{"x":"1","terms":1}'],
    ["a set of a claim that does not allow it", a, { sets: [ofClaim], claim: claim() }, "ClaimNotAllowed"],
    ["a set of a claim that is not bound", a, { sets: [ofClaim], claim: unbound }, "ClaimNotBound"],
  ];
  for (const [what, volumes, world, expected] of cases) {
    it(what, () => expect(say(decideGates(podOf(volumes), facts(world)))).to.equal(expected));
  }

  it("a gate by the name of a set waits until that is ready somewhere, whatever the namespace", () => {
    const pod = podOf({}, ["nodevolume.dev/a"]);
    const entry = set("a", { allowedNamespaces: { names: ["other"] }, nodeSelector: { x: "1" } });
    expect(say(decideGates(pod, facts({})))).to.equal("SetNotFound");
    expect(say(decideGates(pod, facts({ sets: [entry] })))).to.equal("NodesNotReady");
    expect(say(decideGates(pod, facts({ sets: [ready(entry)] })))).to.equal('{"x":"1"}');
  });

  it("all gates of ours wait for all", () => {
    const pod = podOf({ v: { set: "a" } }, ["nodevolume.dev/volumes", "nodevolume.dev/b"]);
    expect(say(decideGates(pod, facts({ sets: [set("a"), set("b")] })))).to.equal("NodesNotReady");
    expect(say(decideGates(pod, facts({ sets: [set("a"), ready(set("b"))] })))).to.equal("{}");
  });
});
