import { explainNode, explainVolumes } from "../../../src/cli/explain/explain-others.ts";
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
  listedPod,
  node,
  pod,
  podState,
  ready,
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
const ofKubelet = (status: Parameters<typeof intent>[2]) =>
  intent(
    "worker-1.pg",
    {
      mode: "Observe",
      source: { persistentVolumeClaim: { namespace: "shop", claimName: "pg" } },
      pods: [listedPod("web")],
      observed: { plugin: "kubernetes.io/csi", volumeName: "pv-1" },
    },
    status,
  );

/** As the agent names the pod that waits. */
const onPod = { kind: "Pod", namespace: "shop", name: "web" };

/**
 * What can be in the way of a volume that kubelet manages, and how it is explained. The texts are in
 * explain.golden.txt.
 */
export const ofKubeletsVolumes: Stories = {
  "driver not registered": () => {
    const message =
      'MountVolume.MountDevice failed for volume "pv-1" : driver name disk.example not found in the list of registered CSI drivers';
    return explainPod(
      facts({
        ...bound,
        ...attached,
        csiNodes: [csiNode("worker-1", "other.example")],
        events: [event(here, "FailedMount", message)],
      }),
      here,
    );
  },
  "attach refused": () => {
    const status = {
      attached: false,
      attachError: { time: ago(30), message: "rpc error: code = ResourceExhausted desc = too many disks on i-0abc" },
    };
    const failed = event(
      here,
      "FailedAttachVolume",
      'AttachVolume.Attach failed for volume "pv-1" : rpc error: code = ResourceExhausted desc = too many disks on i-0abc',
    );
    return explainPod(
      facts({ ...bound, volumeAttachments: [attachment("csi-1", "pv-1", "worker-1", status)], events: [failed] }),
      here,
    );
  },
  "Multi-Attach: another pod on another node has it": () => {
    const holder = pod("web-old", claimVolume("pg"), { node: "worker-2", started: true });
    const failed = event(
      here,
      "FailedAttachVolume",
      'Multi-Attach error for volume "pv-1" Volume is already used by pod(s) web-old',
    );
    return explainPod(
      facts({
        ...bound,
        pods: [here, holder],
        volumeAttachments: [attachment("csi-2", "pv-1", "worker-2", { attached: true })],
        events: [failed],
      }),
      here,
    );
  },
  "Multi-Attach: nobody uses it any more on a node that is gone": () =>
    explainPod(
      facts({ ...bound, volumeAttachments: [attachment("csi-2", "pv-1", "worker-2", { attached: true })] }),
      here,
    ),
  "being detached elsewhere, and the driver refuses": () => {
    const held = attachment(
      "csi-2",
      "pv-1",
      "worker-2",
      { attached: true, detachError: { message: "node has it mounted" } },
      { deletionTimestamp: ago(200) },
    );
    return explainPod(facts({ ...bound, volumeAttachments: [held] }), here);
  },
  "EBUSY, by kubelet's words": () => {
    const message =
      'MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal desc = umount /var/lib/kubelet/x: target is busy';
    return explainPod(facts({ ...bound, ...attached, events: [event(here, "FailedMount", message)] }), here);
  },
  "dead FUSE, by kubelet's words, while the agent sees no mount": () => {
    const message =
      'MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal desc = stat /x: transport endpoint is not connected';
    const waiting = {
      reason: "WaitingForKubelet",
      message: "kubelet has not mounted the volume yet",
      since: ago(60),
      on: onPod,
    };
    const intents = [ofKubelet({ state: "Observed", inUse: false, waiting })];
    return explainPod(facts({ ...bound, ...attached, intents, events: [event(here, "FailedMount", message)] }), here);
  },
  "dead NFS or FUSE, by what the agent observes": () => {
    const waiting = {
      reason: "NotAnswering",
      message: "fuse.sshfs on /var/lib/kubelet/x does not answer; process 99 waits for it",
      since: ago(60),
    };
    return explainPod(
      facts({ ...bound, ...attached, intents: [ofKubelet({ state: "Waiting", inUse: true, waiting })] }),
      here,
    );
  },
  "dead FUSE, by kubelet's words": () => {
    const message =
      'MountVolume.SetUp failed for volume "pv-1" : stat /var/lib/kubelet/x: transport endpoint is not connected';
    return explainPod(facts({ ...bound, ...attached, events: [event(here, "FailedMount", message)] }), here);
  },
  "external umount of kubelet's volume": () => {
    const drift = {
      class: "Missing",
      message: "nothing is mounted on /var/lib/kubelet/pods/uid-web/volumes/kubernetes.io~csi/pv-1/mount any more",
      since: ago(45),
    } as const;
    const running = pod("web", claimVolume("pg"), { node: "worker-1", started: true });
    return explainPod(
      facts({
        ...bound,
        ...attached,
        intents: [ofKubelet({ state: "Degraded", inUse: true, drift, conditions: ready("False", "Drifted") })],
      }),
      running,
    );
  },
  "node not ready": () => explainPod(facts({ ...bound, ...attached, nodes: [node("worker-1", false)] }), here),
  "our volume held by another node": () => {
    const on = { kind: "Node", name: "worker-2" };
    const mine = intent(
      "worker-1.pg",
      { source: { persistentVolumeClaim: { namespace: "shop", claimName: "pg" } } },
      {
        state: "WaitingForAttach",
        inUse: false,
        waiting: { reason: "VolumeHeldElsewhere", message: "node worker-2 has the volume", on, since: ago(50) },
      },
    );
    const theirs = intent(
      "worker-2.pg",
      { source: { persistentVolumeClaim: { namespace: "shop", claimName: "pg" } } },
      {
        state: "Mounted",
        inUse: true,
        desiredMounts: 1,
        readyMounts: 1,
        conditions: ready("True", "Mounted"),
        history: [{ time: ago(3600), state: "Mounted" }],
      },
    );
    return explainVolumes(facts({ intents: [mine, theirs] }), "pg", [mine, theirs]);
  },
  "a Secret that is missing, and an emptyDir that is well": () => {
    const both = {
      volumes: [
        { name: "data", secret: { secretName: "tls" } },
        { name: "tmp", emptyDir: {} },
      ],
      containers: [{ name: "main", volumeMounts: [{ name: "data" }, { name: "tmp" }] }],
    };
    const web = pod("web", {}, { node: "worker-1", spec: both });
    return explainPod(
      facts({
        events: [event(web, "FailedMount", 'MountVolume.SetUp failed for volume "data" : secret "tls" not found')],
      }),
      web,
    );
  },
  "a node": () => {
    const busy = intent(
      "worker-1.logs",
      {},
      {
        state: "Unmounting",
        inUse: true,
        waiting: {
          reason: "TargetBusy",
          message: "/mnt/nodevolume/logs is used by tail (pid 77)",
          since: ago(30),
          attempts: 2,
        },
      },
      { deletionTimestamp: ago(60) },
    );
    return explainNode(
      facts({
        intents: [busy],
        csiNodes: [csiNode("worker-1", "disk.example")],
        states: [state("worker-1", { agent: { version: "0.1.0", bootID: "b", epoch: 3 }, orphaned: 0 })],
      }),
      "worker-1",
    );
  },
  "Multi-Attach that the agent observes, too, is told once": () => {
    const holder = pod("web-old", claimVolume("pg"), { node: "worker-2", started: true });
    const on = { kind: "Pod", namespace: "shop", name: "web-old", node: "worker-2" };
    const waiting = {
      reason: "VolumeHeldElsewhere",
      message: "pod shop/web-old on worker-2 has it",
      on,
      since: ago(60),
    };
    const observed = ofKubelet({ state: "WaitingForAttach", inUse: false, waiting });
    const volumeAttachments = [attachment("csi-2", "pv-1", "worker-2", { attached: true })];
    return explainPod(facts({ ...bound, pods: [here, holder], volumeAttachments, intents: [observed] }), here);
  },
  "attached, and kubelet has not mounted it yet": () => {
    const message = "staged, and not in the directory of pod shop/web yet";
    const waiting = { reason: "WaitingForKubelet", message, since: ago(20), on: onPod };
    const pods = [podState("web", "Pending")];
    return explainPod(
      facts({ ...bound, ...attached, intents: [ofKubelet({ state: "Waiting", inUse: true, waiting, pods })] }),
      here,
    );
  },
  "EBUSY at the end of a pod, by kubelet's words": () => {
    const options = { node: "worker-1", started: true, meta: { deletionTimestamp: ago(90) } };
    const ending = pod("web", claimVolume("pg"), options);
    const message = 'UnmountVolume.TearDown failed for volume "pv-1" : umount /var/lib/kubelet/x: target is busy';
    return explainPod(facts({ ...bound, ...attached, events: [event(ending, "FailedUnMount", message)] }), ending);
  },
};
