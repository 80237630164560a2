import type { KubeObject } from "../../api/meta.ts";
import { resource } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import { arrayIn, isRecord, recordIn, stringIn } from "../../kube/json.ts";
import { asAgentOrNode } from "../content/impersonate-node.ts";

/** The facts about a pod of the node that are checked before anything is removed. */
export interface NodePod {
  readonly uid: string;
  /** For people: namespace/name. */
  readonly name: string;
  readonly phase: string;
  /** Of a mirror: UID of the static pod that it stands for. */
  readonly mirrorOf?: string;
  /** Names of its volumes that kubelet may have a driver stage: claims, and what it translates to a driver. */
  readonly claims: readonly string[];
}

/** kubelet: pkg/kubelet/types/pod_update.go; both carry the UID that kubelet has given to a static pod. */
const mirrorAnnotations = ["kubernetes.io/config.mirror", "kubernetes.io/config.hash"];

/** Kinds of volumes that kubelet never stages. */
const unstaged: ReadonlySet<string> = new Set([
  ...["emptyDir", "hostPath", "nfs", "csi", "image"],
  ...["configMap", "secret", "projected", "downwardAPI"],
]);

/**
 * Every pod that the API server has on a node, ended ones too: a quorum read, never from a cache, for it is asked right
 * before something is removed. Rejects if it cannot be read completely.
 */
export async function podsOnNode(client: Pick<KubeClient, "list">, nodeName: string): Promise<readonly NodePod[]> {
  const fieldSelector = `spec.nodeName=${nodeName}`;
  const { items } = await asAgentOrNode(nodeName, (options) =>
    client.list<KubeObject>(resource.pods, { fieldSelector, ...options }),
  );
  return items.map(nodePod);
}

/** PURE. @throws if it has no UID: nothing may be concluded from such a list */
export function nodePod(raw: KubeObject): NodePod {
  const { uid, namespace = "", name, annotations = {} } = raw.metadata;
  if (uid === undefined || uid === "") throw new Error(`pod ${namespace}/${name} has no UID`);
  const mirrorOf = mirrorAnnotations.map((key) => annotations[key]).find((value) => value !== undefined);
  const claims = arrayIn(recordIn(raw, "spec"), "volumes").flatMap((volume) => {
    const kinds = isRecord(volume) ? Object.keys(volume).filter((key) => key !== "name") : [];
    return kinds.length > 0 && kinds.every((kind) => unstaged.has(kind)) ? [] : [stringIn(volume, "name") ?? ""];
  });
  const phase = stringIn(recordIn(raw, "status"), "phase") ?? "Unknown";
  return { uid, name: `${namespace}/${name}`, phase, claims, ...(mirrorOf !== undefined && { mirrorOf }) };
}
