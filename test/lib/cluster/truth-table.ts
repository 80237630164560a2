// What is so of kubelet's own volumes on a node, by the kernel's table and by Kubernetes' own objects, and what kubectl
// nvi says of it: both in the same words, so that they can be compared. Nothing of the product is used to find out what
// is so.
import { createHash } from "node:crypto";
import type { ApiClient } from "../../../hack/lib/api-client.ts";
import { layout, type PretendHost } from "../../../hack/lib/pretend-node/node.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";

/** One claim of a node. Lists are sorted. */
export interface Row {
  readonly claim: string;
  readonly volume: string;
  /** UIDs of those who use it, and of those of them that have it mounted. */
  readonly pods: readonly string[];
  readonly mounted: readonly string[];
  readonly staged: boolean;
  readonly inUse: boolean;
  /** Name of the VolumeAttachment, once it is attached. */
  readonly attachment: string;
}

const plugins = `${layout.kubeletDir}/plugins/kubernetes.io/csi`;
const ended = new Set(["Succeeded", "Failed"]);

interface Raw {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string };
}
interface RawPod extends Raw {
  readonly spec: {
    readonly nodeName?: string;
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[];
  };
  readonly status?: { readonly phase?: string };
}
interface RawVolume extends Raw {
  readonly spec: {
    readonly claimRef?: { readonly namespace: string; readonly name: string };
    readonly csi?: { readonly driver: string; readonly volumeHandle: string };
  };
}
interface RawAttachment extends Raw {
  readonly spec: { readonly nodeName: string; readonly source: { readonly persistentVolumeName?: string } };
  readonly status?: { readonly attached: boolean };
}

/** By the node's mount table, and the API's pods, PersistentVolumes and VolumeAttachments. */
export async function whatIsSo(host: PretendHost, admin: ApiClient, node: string): Promise<readonly Row[]> {
  const [pods, volumes, attachments] = await Promise.all([
    list<RawPod>(admin, "/api/v1/pods"),
    list<RawVolume>(admin, "/api/v1/persistentvolumes"),
    list<RawAttachment>(admin, "/apis/storage.k8s.io/v1/volumeattachments"),
  ]);
  const points = new Set((await host.mounts()).map((line) => line.split(" ")[4] ?? ""));
  const rows = new Map<string, { pods: string[] }>();
  for (const { metadata, spec, status } of pods) {
    if (spec.nodeName !== node || ended.has(status?.phase ?? "")) continue;
    for (const { persistentVolumeClaim } of spec.volumes ?? []) {
      if (persistentVolumeClaim === undefined) continue;
      const key = `${metadata.namespace}/${persistentVolumeClaim.claimName}`;
      rows.set(key, { pods: [...(rows.get(key)?.pods ?? []), metadata.uid].sort() });
    }
  }
  return [...rows].sort(byName).map(([claim, { pods: users }]) => {
    const volume = volumes.find(({ spec: { claimRef } }) => `${claimRef?.namespace}/${claimRef?.name}` === claim);
    const name = volume?.metadata.name ?? "";
    const { driver = "", volumeHandle = "" } = volume?.spec.csi ?? {};
    const stage = `${plugins}/${driver}/${createHash("sha256").update(volumeHandle).digest("hex")}/globalmount`;
    const mounted = users.filter((uid) =>
      points.has(`${layout.kubeletDir}/pods/${uid}/volumes/kubernetes.io~csi/${name}/mount`),
    );
    const attachment = attachments.find(
      ({ spec }) => spec.nodeName === node && spec.source.persistentVolumeName === name,
    );
    return {
      claim,
      volume: name,
      pods: users,
      mounted,
      staged: points.has(stage),
      inUse: points.has(stage) || mounted.length > 0,
      attachment: attachment?.status?.attached === true ? attachment.metadata.name : "",
    };
  });
}

/** By what `kubectl nvi volumes NODE -o json` has printed. */
export function whatIsSaid(printed: string): readonly Row[] {
  const { items } = JSON.parse(printed) as { readonly items: readonly NodeVolumeIntent[] };
  return items
    .filter(({ spec }) => spec.observed !== undefined)
    .map(({ spec, status }) => {
      const { namespace, claimName } = spec.source.persistentVolumeClaim ?? { namespace: "", claimName: "" };
      const mounted = status?.pods?.filter(({ state }) => state === "Mounted").map(({ uid }) => uid) ?? [];
      const { reason, volumeAttachment = "" } = status?.attach ?? {};
      return {
        claim: `${namespace}/${claimName}`,
        volume: spec.observed?.volumeName ?? "",
        pods: (spec.pods ?? []).map(({ uid }) => uid).sort(),
        mounted: mounted.sort(),
        staged: status?.stagingPath !== undefined,
        inUse: status?.inUse === true,
        attachment: reason === undefined ? volumeAttachment : "",
      };
    })
    .sort((a, b) => (a.claim < b.claim ? -1 : 1));
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

async function list<T extends Raw>(admin: ApiClient, path: string): Promise<readonly T[]> {
  const { status, body } = await admin.call("GET", path);
  if (status !== 200) throw new Error(`GET ${path}: ${status}`);
  return body["items"] as unknown as readonly T[];
}
