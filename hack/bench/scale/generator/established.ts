// Intents as our controller and agents leave them when all is mounted. That they are what the controller would write is
// seen in a run: it writes none of them again.
import { apiVersion, finalizer, label } from "../../../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../../../src/api/types.gen.ts";
import { observedIdentity, volumeIdentity } from "../../../../src/controller/model/volume-identity.ts";
import { statusOf } from "./agents.ts";
import { managedBy } from "./managed-fields.ts";
import { drivers, type Names } from "./shape.ts";

/** What differs between two intents of one kind. */
export const intentKeys = [
  ...["name", "uid", "version", "node", "nodeUID", "claim", "namespace", "volume", "volumeUID"],
  ...["pod", "podUID"],
] as const;

const born = "2026-11-20T08:00:00Z";
const settled = {
  suspend: false,
  unmountPolicy: { max: "Normal", timeoutSeconds: 90 },
  deletionPolicy: "Unmount",
  adopt: "Never",
  nodeLossPolicy: { type: "Never" },
};

/** PURE. An intent of a claim by our driver, granted and mounted; or of one that kubelet manages, observed. */
export function intentObject(isOurs: boolean, attached: boolean, bootID: string): object {
  const attributes = {
    "storage.kubernetes.io/csiProvisionerIdentity": `1763625600000-8081-${drivers.ours}`,
    share: "/exports/@volume@",
  };
  const pod = { uid: "@podUID@", namespace: "@namespace@", name: "@pod@", readOnly: false };
  const ours = {
    mode: "Manage",
    ...settled,
    pods: [{ ...pod, volume: "v1", fsGroup: 2000 }],
    grant: {
      id: "@uid@",
      persistentVolume: { name: "@volume@", uid: "@volumeUID@" },
      csi: {
        driver: drivers.ours,
        volumeHandle: "@volume@",
        accessMode: "ReadWriteMany",
        volumeAttributes: attributes,
        supportsFSGroup: true,
      },
    },
    capacityBytes: "10737418240",
  };
  const observed = {
    plugin: "kubernetes.io/csi",
    volumeName: "@volume@",
    driver: drivers.ordinary,
    volumeHandle: "@volume@",
    attachRequired: attached,
  };
  const kubelets = { mode: "Observe", ...settled, pods: [{ ...pod, volume: "v0" }], observed };
  const spec = {
    nodeName: "@node@",
    nodeUID: "@nodeUID@",
    volumeName: "@claim@",
    source: { persistentVolumeClaim: { namespace: "@namespace@", claimName: "@claim@" } },
    volumeMode: "Filesystem",
    mounts: [],
    ...(isOurs ? ours : kubelets),
  };
  const metadata = {
    name: "@name@",
    uid: "@uid@",
    resourceVersion: "@version@",
    generation: isOurs ? 2 : 1,
    creationTimestamp: born,
    labels: { [label.node]: "@node@", [label.type]: "persistentVolumeClaim" },
    ...(isOurs && { finalizers: [finalizer.inUse] }),
  };
  const status = statusOf({ metadata, spec, status: {} } as unknown as NodeVolumeIntent, bootID, born);
  return { apiVersion, kind: "NodeVolumeIntent", metadata: managedBy(metadata, { spec, status }), spec, status };
}

export function stateObject(): object {
  const metadata = { name: "@name@", uid: "@uid@", resourceVersion: "@version@", generation: 1 };
  const conditions = [{ type: "Ready", status: "True", reason: "AsWanted", message: "", lastTransitionTime: born }];
  return { apiVersion, kind: "NodeVolumeState", metadata, status: { conditions } };
}

/** The name that the controller gives the intent of a claim, on the node of its pod. */
export function intentName(names: Names, claim: number): string {
  const pod = names.podOfClaim(claim);
  const [node, namespace, claimName] = [names.nodeOfPod(pod), names.namespaceOfPod(pod), names.claim(claim)];
  if (!names.isOurs(claim)) return observedIdentity(node, namespace, claimName).intentName;
  const source = { persistentVolumeClaim: { namespace, claimName } };
  return volumeIdentity({ nodeName: node, setName: "", setUID: "", volume: { source, volumeMode: "Filesystem" } })
    .intentName;
}

/** PURE. The claim in the name of an intent. */
export function claimIn(intent: string): number | undefined {
  const [, digits] = /\.data-(\d{6,})-[0-9a-f]+$/.exec(intent) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
