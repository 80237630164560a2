import { allowing } from "../../../hack/lib/allowing.ts";
import { explainClaim } from "../../../src/cli/explain/explain-others.ts";
import { explainPod } from "../../../src/cli/explain/explain-pod.ts";
import {
  ago,
  attachment,
  claim,
  claimVolume,
  csiNode,
  event,
  facts,
  intent,
  pod,
  raw,
  ready,
  set,
  state,
  volume,
} from "../../lib/builders/cli-objects.ts";
import type { Stories } from "./stories.ts";

const bound = {
  claims: [claim("pg", "pv-1")],
  persistentVolumes: [volume("pv-1", "pg")],
  csiNodes: [csiNode("worker-1", "disk.example"), csiNode("worker-2", "disk.example")],
};
const attached = { volumeAttachments: [attachment("csi-1", "pv-1", "worker-1", { attached: true })] };
const here = pod("web", claimVolume("pg"), { node: "worker-1" });
const ephemeral = pod("web", { ephemeral: {} }, { node: "worker-1" });

const controlledBy = (uid: string | undefined) => {
  const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "web", uid, controller: true }];
  return claim("web-data", "pv-1", {}, { ownerReferences });
};

/** What can be in the way of a claim, or of a pod that uses one. */
export const ofClaims: Stories = {
  "claim not bound: no such class": () => explainPod(facts({ claims: [claim("pg", undefined)] }), here),
  "claim not bound: no class at all": () =>
    explainPod(facts({ claims: [claim("pg", undefined, { storageClassName: undefined })] }), here),
  "claim not bound: the class waits for the pod, which has no node": () => {
    const classes = [
      raw("fast", undefined, { provisioner: "disk.example", volumeBindingMode: "WaitForFirstConsumer" }),
    ];
    const status = {
      conditions: [
        {
          type: "PodScheduled",
          status: "False",
          reason: "Unschedulable",
          message: "0/3 nodes are available: 3 Insufficient memory.",
          lastTransitionTime: ago(90),
        },
      ],
    };
    return explainPod(
      facts({ claims: [claim("pg", undefined)], storageClasses: classes }),
      pod("web", claimVolume("pg"), { status }),
    );
  },
  "claim not bound: the provisioner fails": () => {
    const pg = claim("pg", undefined);
    const classes = [raw("fast", undefined, { provisioner: "disk.example" })];
    return explainPod(
      facts({
        claims: [pg],
        storageClasses: classes,
        events: [event(pg, "ProvisioningFailed", "rpc error: code = ResourceExhausted desc = no space left")],
      }),
      here,
    );
  },
  "claim missing": () => explainPod(facts({}), here),
  "claim of a generic ephemeral volume, made by somebody else": () =>
    explainPod(facts({ ...bound, claims: [claim("web-data", "pv-1")] }), ephemeral),
  "claim of a generic ephemeral volume, of an earlier pod": () => {
    const words =
      "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: PVC shop/web-data was not created for pod shop/web (pod is not owner)";
    const events = [event(ephemeral, "FailedMount", words)];
    return explainPod(facts({ ...bound, claims: [controlledBy("uid-before")], events }), ephemeral);
  },
  "claim of a generic ephemeral volume, of its own": () =>
    explainPod(facts({ ...bound, claims: [controlledBy(ephemeral.metadata.uid)] }), ephemeral),
  "attach refused for want of room": () => {
    const status = {
      attached: false,
      attachError: { time: ago(30), message: "too many disks on i-0abc", errorCode: 8 },
    };
    const other = attachment("csi-0", "pv-0", "worker-1", { attached: true });
    const csiNodes = [
      raw("worker-1", undefined, { spec: { drivers: [{ name: "disk.example", allocatable: { count: 1 } }] } }),
    ];
    return explainPod(
      facts({ ...bound, csiNodes, volumeAttachments: [other, attachment("csi-1", "pv-1", "worker-1", status)] }),
      here,
    );
  },
  "orphan after a crash between unpublish and unstage: the claim": () => {
    const left = {
      path: "/var/lib/kubelet/plugins/kubernetes.io/csi/disk.example/sha256-of-h-pv-1/globalmount",
      kind: "Staging",
      source: "ext4 (/dev/vdb)",
      since: ago(7200),
      reason: "LeftByKubelet",
      message: "no pod on the node uses it, and kubelet has forgotten it",
      remedy: "umount /var/lib/kubelet/plugins/kubernetes.io/csi/disk.example/h/globalmount",
    };
    return explainClaim(
      facts({ ...bound, ...attached, states: [state("worker-1", { orphans: [left], orphaned: 1 })] }),
      claim("pg", "pv-1"),
    );
  },
  "staged without a pod, observed": () => {
    const observed = intent(
      "worker-1.pg",
      { mode: "Observe", observed: { plugin: "kubernetes.io/csi", volumeName: "pv-1" }, pods: [] },
      {
        state: "Observed",
        inUse: true,
        stagingPath: "/var/lib/kubelet/plugins/kubernetes.io/csi/disk.example/h/globalmount",
        conditions: ready("True", "Observing"),
      },
    );
    return explainClaim(facts({ ...bound, ...attached, intents: [observed] }), claim("pg", "pv-1"));
  },
  "pod gated": () =>
    explainPod(
      facts({ claims: [claim("pg", "pv-1")], persistentVolumes: [volume("pv-1", "pg")] }),
      pod("web", claimVolume("pg"), { spec: { schedulingGates: [{ name: "nodevolume.dev/datasets" }] } }),
    ),
  "claim that node volumes have": () =>
    explainPod(
      facts({
        ...bound,
        claims: [claim("pg", "pv-1", {}, { labels: { "nodevolume.dev/held": "true" } })],
        ...attached,
      }),
      here,
    ),
  "claim that a set asks for, which it does not allow": () => {
    const source = { persistentVolumeClaim: { namespace: "shop", claimName: "pg" } };
    const sets = ["archive", "allowed"].map((name) => set(name, { volume: { source } } as object));
    const pg = claim("pg", "pv-1", {}, { labels: allowing("allowed") });
    return explainClaim(facts({ ...bound, claims: [pg], sets }), pg);
  },
  "claim that a set only observes, which it does not allow either": () => {
    const source = { persistentVolumeClaim: { namespace: "shop", claimName: "pg" } };
    const observer = set("observer", { mode: "Observe", volume: { source } } as object);
    const pg = claim("pg", "pv-1");
    return explainClaim(facts({ ...bound, claims: [pg], sets: [observer] }), pg);
  },
  "all is well": () =>
    explainPod(facts({ ...bound, ...attached }), pod("web", claimVolume("pg"), { node: "worker-1", started: true })),
  "a user who may read little": () =>
    explainPod(
      facts({ denied: { claims: "you may not read persistentvolumeclaims", events: "you may not read events" } }),
      here,
    ),
  "a pod that has ended": () =>
    explainPod(facts(bound), pod("web", claimVolume("pg"), { node: "worker-1", status: { phase: "Succeeded" } })),
  "EBUSY with the process at the end of a pod, by what the agent observes": () => {
    const path = "/var/lib/kubelet/pods/uid-web/volumes/kubernetes.io~csi/pv-1/mount";
    const left = {
      path,
      kind: "PodMount",
      reason: "TargetBusy",
      message: `pod shop/web (volume data) has ended, and kubelet cannot unmount this: in use by pid 4711 (postgres) at ${path} (working directory)`,
      remedy: "end it: kubelet retries at least every two minutes",
      since: ago(60),
    };
    const options = { node: "worker-1", status: { phase: "Succeeded" }, meta: { deletionTimestamp: ago(90) } };
    return explainPod(
      facts({ states: [state("worker-1", { orphans: [left] })] }),
      pod("web", claimVolume("pg"), options),
    );
  },
};
