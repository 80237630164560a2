// What a file of stories about volumes of CSI drivers begins with: its nodes in the lane's cluster, and what it sees of
// it.
import { existsSync, readFileSync, statSync } from "node:fs";
import { readRecord } from "../../drivers/lib/record.ts";
import { prepare, type TestCluster } from "../cluster/cluster.ts";
import { type CSILane, csiLane, type StoryNode } from "./csi-lane.ts";
import { needXfsprogs } from "./csi-needs.ts";

export { type StoryNode, storageClass } from "./csi-lane.ts";

export interface Stories {
  /** Shared by the lane: whatever a file makes in it, it takes away again. */
  readonly lane: CSILane;
  readonly world: CSILane["world"];
  readonly nodes: readonly StoryNode[];
  readonly objects: CSILane["objects"];
  readonly kubectl: TestCluster["kubectl"];
  /** Makes or changes a set as a platform administrator. */
  apply(name: string, spec: object): Promise<void>;
  /** The same with several, at once. */
  applyAll(specs: { readonly [name: string]: object }): Promise<void>;
  remove(...names: string[]): Promise<void>;
  /** The effects that drivers have ended, of one volume, in their order. */
  effects(volumeHandle: string): string[];
  /** The API server's audit log since these stories began. */
  audit(): string;
}

export interface StoriesOptions {
  readonly nodes: readonly string[];
  /** Further flags of a node's driver, by the node's name, which no other file has then. */
  readonly flags?: { readonly [node: string]: readonly string[] };
}

const setKind = { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet" };

/** For a before hook; skips by name what the machine cannot do. */
export async function startStories(context: Mocha.Context, options: StoriesOptions): Promise<Stories> {
  prepare(context);
  const lane = await csiLane(await needXfsprogs(context));
  const { world, objects, auditFile } = lane;
  const { kubectl } = world.cluster;
  const nodes: StoryNode[] = [];
  for (const name of options.nodes) nodes.push(await lane.node(name, options.flags?.[name]));
  const applyAll = async (specs: { readonly [name: string]: object }) => {
    const items = Object.entries(specs).map(([name, spec]) => ({ ...setKind, metadata: { name }, spec }));
    const list = { apiVersion: "v1", kind: "List", items };
    await kubectl.run(["apply", "--server-side", "-f", "-"], JSON.stringify(list));
  };
  const auditedBefore = existsSync(auditFile) ? statSync(auditFile).size : 0;
  return {
    lane,
    world,
    nodes,
    objects,
    kubectl,
    apply: (name, spec) => applyAll({ [name]: spec }),
    applyAll,
    async remove(...names) {
      await kubectl.run(["delete", "nodevolumesets", "--wait=false", "--ignore-not-found", ...names]);
      await objects.until(`${names.join(", ")} to be gone`, 240_000, () =>
        names.every((name) => !objects.sets.has(name)),
      );
    },
    effects(volumeHandle) {
      const lines = readRecord(world.storage.record);
      return lines.filter(({ kind, volume }) => kind === "end" && volume === volumeHandle).map(({ what }) => what);
    },
    audit: () => readFileSync(auditFile).subarray(auditedBefore).toString(),
  };
}

/** The driver's name of a PersistentVolume. */
export function handleOf(volume: { readonly [key: string]: unknown }): string {
  return (volume["spec"] as { csi: { volumeHandle: string } }).csi.volumeHandle;
}
