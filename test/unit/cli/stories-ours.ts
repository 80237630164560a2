import { explainPod } from "../../../src/cli/explain/explain-pod.ts";
import {
  agent,
  ago,
  claim,
  csiNode,
  facts,
  intent,
  listedPod,
  ourVolume,
  pod,
  podState,
  raw,
  ready,
  set,
  volume,
} from "../../lib/builders/cli-objects.ts";
import type { Stories } from "./stories.ts";

const ours = pod("web", ourVolume({ set: "datasets" }), { node: "worker-1" });
const ourNode = { csiNodes: [csiNode("worker-1", "csi.nodevolume.dev")] };
const allowed = { sets: [set("datasets", { allowedNamespaces: { names: ["shop"] } })] };
const ourIntent = (status: Parameters<typeof intent>[2]) =>
  intent("worker-1.datasets", { pods: [listedPod("web")] }, status, { labels: { "set.nodevolume.dev/datasets": "" } });

const firstConsumer = { provisioner: "disk.example", volumeBindingMode: "WaitForFirstConsumer" };
const atGate = { spec: { schedulingGates: [{ name: "nodevolume.dev/volumes" }] } };
const gated = (reason?: string, message?: string) => {
  const condition = {
    type: "nodevolume.dev/VolumesReady",
    status: "False",
    reason,
    message,
    lastTransitionTime: ago(60),
  };
  return pod("web", ourVolume({ set: "datasets" }), {
    ...atGate,
    ...(reason !== undefined && { status: { conditions: [condition] } }),
  });
};

const meta = { deletionTimestamp: ago(300) };
const ended = pod("web", ourVolume({ set: "datasets" }), { node: "worker-1", status: { phase: "Succeeded" }, meta });
/** The intent does not name the pod any more; its agent still has a bind for it. */
const left = () => {
  const message = "/var/lib/kubelet/pods/uid-web/volumes/data/mount is in use by pid 70 (nginx)";
  const entry = { ...podState("web", "Mounted"), reason: "TargetBusy", message };
  const status = { state: "Mounted" as const, inUse: true, pods: [entry], conditions: ready("True", "Mounted") };
  const labels = { "set.nodevolume.dev/datasets": "" };
  return facts({ ...ourNode, ...allowed, intents: [intent("worker-1.datasets", { pods: [] }, status, { labels })] });
};

/** What can be in the way of a volume that pods use through our driver. */
export const ofOurVolumes: Stories = {
  "through our driver, for a user who may not read intents": () =>
    explainPod(
      facts({
        ...allowed,
        denied: { intents: "you may not read nodevolumeintents", csiNodes: "you may not read csinodes" },
      }),
      ours,
    ),
  "namespace not allowed": () =>
    explainPod(facts({ ...ourNode, sets: [set("datasets", { allowedNamespaces: { names: ["data"] } })] }), ours),
  "at the gate of its volumes: the set is missing": () =>
    explainPod(facts({}), gated("SetNotFound", "there is no NodeVolumeSet datasets")),
  "at the gate of its volumes: the namespace is not allowed": () =>
    explainPod(
      facts({ sets: [set("datasets", { allowedNamespaces: { names: ["data"] } })] }),
      gated("NamespaceNotAllowed", "NodeVolumeSet datasets does not allow pods of namespace shop"),
    ),
  "at the gate of its volumes: for a user who may not read sets": () =>
    explainPod(
      facts({ denied: { sets: "you may not read nodevolumesets" } }),
      gated("NamespaceNotAllowed", "NodeVolumeSet datasets does not allow pods of namespace shop"),
    ),
  "at the gate of its volumes: its own affinity is in the way": () =>
    explainPod(
      facts(allowed),
      gated("NodeAffinityConflict", "the pod's nodes and those of set datasets have none in common"),
    ),
  "at the gate of its volumes, and nobody has said why": () => explainPod(facts(allowed), gated()),
  "at the gate of its volumes: its claim waits for the pod": () =>
    explainPod(
      facts({ claims: [claim("pg", undefined)], storageClasses: [raw("fast", undefined, firstConsumer)] }),
      pod("web", ourVolume({ persistentVolumeClaim: "pg" }), atGate),
    ),
  "set missing": () => explainPod(facts({ ...ourNode }), ours),
  "no intent yet": () => explainPod(facts({ ...ourNode, ...allowed }), ours),
  "the intent does not name the pod yet": () => {
    const other = intent(
      "worker-1.datasets",
      { pods: [] },
      { state: "Mounted", inUse: true, conditions: ready("True", "Mounted") },
      { labels: { "set.nodevolume.dev/datasets": "" } },
    );
    return explainPod(facts({ ...ourNode, ...allowed, intents: [other] }), ours);
  },
  "our driver is not on the node": () => explainPod(facts({ ...allowed, csiNodes: [csiNode("worker-1")] }), ours),
  "agent down": () => {
    const lost = ourIntent({
      state: "Mounting",
      agentState: { state: "Lost", since: ago(400) },
      conditions: ready("Unknown", "AgentLost"),
    });
    return explainPod(facts({ ...ourNode, ...allowed, intents: [lost], agents: [agent("worker-1", 600)] }), ours);
  },
  "agent was never there": () => explainPod(facts({ ...ourNode, ...allowed, agents: [] }), ours),
  "through our driver: the server does not answer": () => {
    const waiting = {
      reason: "ServerUnreachable",
      message: "nas does not answer on port 2049",
      since: ago(75),
      attempts: 6,
      nextRetryTime: ago(-40),
    };
    return explainPod(
      facts({
        ...ourNode,
        ...allowed,
        intents: [
          ourIntent({
            state: "Waiting",
            inUse: false,
            waiting,
            pods: [podState("web", "Pending")],
          }),
        ],
      }),
      ours,
    );
  },
  "through our driver: the claim of its set does not allow the set": () => {
    const source = { persistentVolumeClaim: { namespace: "shop", claimName: "pg" } };
    const sets = [set("datasets", { volume: { source }, allowedNamespaces: { names: ["shop"] } } as object)];
    return explainPod(facts({ ...ourNode, claims: [claim("pg", "pv-1")], sets }), ours);
  },
  "through our driver: its PersistentVolume asks for a group": () => {
    const pg = volume("pv-1", "pg");
    const annotations = { "pv.beta.kubernetes.io/gid": "1234" };
    const source = { persistentVolumeClaim: { namespace: "shop", claimName: "pg" } };
    const status = {
      state: "Mounted" as const,
      inUse: true,
      pods: [podState("web", "Mounted")],
      conditions: ready("True", "Mounted"),
    };
    const world = facts({
      ...ourNode,
      claims: [claim("pg", "pv-1")],
      persistentVolumes: [{ ...pg, metadata: { ...pg.metadata, annotations } }],
      intents: [intent("worker-1.pg", { pods: [listedPod("web")], source }, status)],
      agents: [agent("worker-1", 20)],
    });
    return explainPod(
      world,
      pod("web", ourVolume({ persistentVolumeClaim: "pg" }), { node: "worker-1", started: true }),
    );
  },
  "through our driver: the PersistentVolume of its set asks for a group": () => {
    const pg = volume("pv-1", "pg");
    const annotations = { "pv.beta.kubernetes.io/gid": "1234" };
    const spec = {
      pods: [listedPod("web")],
      source: { persistentVolumeClaim: { namespace: "storage", claimName: "pg" } },
      grant: { id: "g", persistentVolume: { name: "pv-1", uid: "uid-pv-1" } },
    };
    const status = {
      state: "Mounted" as const,
      inUse: true,
      pods: [podState("web", "Mounted")],
      conditions: ready("True", "Mounted"),
    };
    const world = facts({
      ...ourNode,
      ...allowed,
      persistentVolumes: [{ ...pg, metadata: { ...pg.metadata, annotations } }],
      intents: [intent("worker-1.datasets", spec, status)],
    });
    return explainPod(world, pod("web", ourVolume({ set: "datasets" }), { node: "worker-1", started: true }));
  },
  "through our driver: the node still has the volume of a pod that has ended": () => explainPod(left(), ended),
  "through our driver: the node still has the volume of a pod that is being deleted": () =>
    explainPod(left(), pod("web", ourVolume({ set: "datasets" }), { node: "worker-1", started: true, meta })),
  "through our driver: a pod that has ended has given its volume back": () =>
    explainPod(facts({ ...ourNode, ...allowed }), ended),
  "through our driver: all is well": () => {
    const well = ourIntent({
      state: "Mounted",
      inUse: true,
      pods: [podState("web", "Mounted")],
      conditions: ready("True", "Mounted"),
    });
    return explainPod(
      facts({ ...ourNode, ...allowed, intents: [well] }),
      pod("web", ourVolume({ set: "datasets" }), { node: "worker-1", started: true }),
    );
  },
};
