import type { NodeVolumeSet } from "../../../src/api/types.gen.ts";
import { explainNode, explainVolumes } from "../../../src/cli/explain/explain-others.ts";
import { ago, event, facts, intent, type raw, ready, set } from "../../lib/builders/cli-objects.ts";
import type { Stories } from "./stories.ts";

type Spec = Partial<NodeVolumeSet["spec"]>;
type Status = NodeVolumeSet["status"];

const seen = { observedGeneration: 1 };
const conditions = (type: "Stalled" | "Conflict", reason: string, message: string) => [
  { type, status: "True" as const, reason, message, lastTransitionTime: ago(90), observedGeneration: 1 },
];
const told = (name: string, spec: Spec, status: Status, intents: Parameters<typeof explainVolumes>[2] = []) =>
  explainVolumes(facts({ intents }), name, intents, set(name, spec, status));

const notAllowed = "/srv/outside is not beneath an allowed prefix: /mnt/nodevolume, /var/lib/nodevolume/mounts";
const noNodes = "no Node is selected by spec.nodeSelector, spec.affinity and spec.tolerations";
const clash = "set scratch uses /mnt/nodevolume/scratch, above /mnt/nodevolume/scratch/sub";
const denied =
  "claim databases/archive does not allow set archive: it has no label allowed-set.nodevolume.dev/archive=true";
const archive = { persistentVolumeClaim: { namespace: "databases", claimName: "archive" } };
const ofClaim = { volume: { source: archive } } as Spec;
const mounted = intent("worker-1.data", {}, { state: "Mounted", inUse: true, conditions: ready("True", "Mounted") });

const path = "/var/lib/nodevolume/mounts/data";
/** Somebody has unmounted it again and again; it is mounted. */
const churning = intent(
  "worker-2.data",
  {
    mounts: [
      { name: "data.host", requester: { kind: "NodeVolumeSet", name: "data", uid: "u" }, path, readOnly: false },
    ],
  },
  { state: "Mounted", inUse: true, conditions: ready("True", "Mounted") },
);
const unmounted = {
  ...event(churning as unknown as ReturnType<typeof raw>, "Drifted", `${path} was unmounted by somebody else`, 7),
  source: { component: "nodevolume-agent", host: "worker-2" },
};

/** What only a set can say: no intent of it is there, or not on every node that it selects. */
export const ofSets: Stories = {
  "set whose path is not allowed": () => {
    const failing = ["worker-1", "worker-2"].map((node) => ({ node, reason: "PathNotAllowed", message: notAllowed }));
    const said = ready("False", "NodesNotReady", `ready on 0 of 2 nodes, newest spec on 0; worker-1: ${notAllowed}`);
    return told("outside", {}, { ...seen, desired: 2, ready: 0, failing, conditions: said });
  },
  "set in conflict on one node, and well on the other": () => {
    const failing = [{ node: "worker-2", reason: "Conflict", message: clash }];
    const said = [...ready("False", "Conflict", "ready on 1 of 2 nodes"), ...conditions("Conflict", "Conflict", clash)];
    return told("data", {}, { ...seen, desired: 2, ready: 1, conflict: 1, failing, conditions: said }, [mounted]);
  },
  "set whose nodeSelector matches no node": () => {
    const said = ready("False", "NoNodesSelected", noNodes);
    return told("nowhere", { nodeSelector: { disk: "nvme" } }, { ...seen, desired: 0, conditions: said });
  },
  "set that is for pods alone": () => {
    const said = ready("True", "NoConsumers", "the set has no mounts: it is where pods use it, and only there");
    return told("forpods", {}, { ...seen, desired: 0, conditions: said });
  },
  "set that is not understood": () => {
    const said = ready("False", "Invalid", "spec.volume.source: unknown field; what is mounted stays as it is");
    return told("newer", {}, { ...seen, desired: 0, conditions: said });
  },
  "set that the controller has not seen": () => told("fresh", {}, {}),
  "set whose rollout is paused": () => {
    const paused = "1 node left with an older spec, because of worker-1: SourceNotFound: there is no /srv/models";
    const said = [
      ...ready("False", "NodesNotReady", "ready on 0 of 1 node"),
      ...conditions("Stalled", "RolloutPaused", paused),
    ];
    return told("data", {}, { ...seen, desired: 1, ready: 0, conditions: said }, [mounted]);
  },
  "set that its claim does not allow": () => {
    const failing = [{ node: "worker-1", reason: "ClaimNotAllowed", message: denied }];
    const said = [
      ...ready("False", "NodesNotReady", `ready on 0 of 1 node, newest spec on 0; worker-1: ${denied}`),
      ...conditions("Stalled", "ClaimNotAllowed", `worker-1: ${denied}`),
    ];
    return told("archive", ofClaim, { ...seen, desired: 1, ready: 0, failing, conditions: said });
  },
  "set that its claim does not allow any more": () => {
    const failing = [{ node: "worker-1", reason: "ClaimNotAllowed", message: denied }];
    const said = [
      ...ready("False", "ClaimNotAllowed", `ready on 1 of 1 node, newest spec on 1; worker-1: ${denied}`),
      ...conditions("Stalled", "ClaimNotAllowed", `worker-1: ${denied}`),
    ];
    return told("archive", ofClaim, { ...seen, desired: 1, ready: 1, failing, conditions: said }, [mounted]);
  },
  "set with a volume that drifts again and again on one node": () => {
    const intents = [mounted, churning];
    const status = { ...seen, desired: 2, ready: 2, conditions: ready("True", "AllReady") };
    return explainVolumes(facts({ intents, events: [unmounted] }), "data", intents, set("data", {}, status));
  },
  "node with a volume that drifts again and again": () =>
    explainNode(facts({ intents: [churning], events: [unmounted] }), "worker-2"),
  "set whose intents say it all": () =>
    told("data", {}, { ...seen, desired: 1, ready: 1, conditions: ready("True", "AllReady") }, [mounted]),
};
