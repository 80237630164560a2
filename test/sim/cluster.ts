import { finalizer, podDriver, resource } from "../../src/api/names.ts";
import type {
  IntentMount,
  NodeVolumeIntent,
  NodeVolumeIntentSpec,
  NodeVolumeSet,
  NodeVolumeSetSpec,
  SetMount,
  VolumeTemplate,
} from "../../src/api/types.gen.ts";
import { mergeDiff } from "../../src/kube/merge-diff.ts";
import { laterVersion } from "./api/admission.ts";
import type { SimApiServer } from "./api/sim-api-server.ts";
import { secretText } from "./invariants/secret-rules.ts";

/** An intent as a story tells it; what is left out is what a set would write. */
export interface IntentInput extends Partial<Omit<NodeVolumeIntentSpec, "mounts" | "source">> {
  readonly node?: string;
  readonly source: NodeVolumeIntentSpec["source"];
  /** Paths, or mounts with options. */
  readonly mounts: readonly (string | (Pick<IntentMount, "path"> & Partial<IntentMount>))[];
}

/** A set as a story tells it. */
export interface SetInput extends Partial<Omit<NodeVolumeSetSpec, "mounts" | "volume">> {
  readonly volume: Partial<VolumeTemplate> & Pick<VolumeTemplate, "source">;
  readonly mounts: readonly (string | (Pick<SetMount, "path"> & Partial<SetMount>))[];
}

const namespace = "default";

/** What people do with kubectl, and kubelet with its Node: at once, whatever the network is like. */
export class Cluster {
  readonly #server: SimApiServer;

  constructor(server: SimApiServer) {
    this.#server = server;
  }

  addNode(name: string, bootID: string, labels: { readonly [key: string]: string } = {}): void {
    const status = { nodeInfo: { bootID }, conditions: [{ type: "Ready", status: "True" }] };
    const metadata = { name, labels: { "kubernetes.io/hostname": name, ...labels } };
    this.#server.create(resource.nodes, { metadata, spec: {}, status });
  }

  labelNode(name: string, labels: { readonly [key: string]: string | null }): void {
    this.#server.patch(resource.nodes, name, { metadata: { labels } });
  }

  /** Somebody says that a Node holds nothing any more, or takes that back. */
  outOfService(node: string, is: boolean): void {
    const taint = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };
    this.#server.patch(resource.nodes, node, { spec: { taints: is ? [taint] : null } });
  }

  /** Names of the Nodes with all of these labels. */
  selectedNodes(labels: { readonly [key: string]: string }): string[] {
    return this.#server
      .list(resource.nodes)
      .filter(({ metadata }) => Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value))
      .map(({ metadata }) => metadata.name);
  }

  /** kubelet reports the boot of its node. */
  booted(name: string, bootID: string): void {
    this.#server.patch(resource.nodes, name, { status: { nodeInfo: { bootID } } });
  }

  /** @returns its name, which begins with the node's */
  createIntent(volume: string, { node = "a", mounts, ...spec }: IntentInput): string {
    const name = `${node}.${volume}`;
    const nodeUID = this.#server.get(resource.nodes, node)?.metadata.uid ?? "unknown";
    this.#server.create(resource.intents, {
      metadata: { name, finalizers: [finalizer.inUse], labels: { "nodevolume.dev/node": node } },
      spec: {
        nodeName: node,
        nodeUID,
        volumeName: volume,
        mode: "Manage",
        volumeMode: "Filesystem",
        ...spec,
        mounts: mounts.map(mountOf),
      },
    });
    return name;
  }

  /** Changes the spec of an intent, as the controller would. */
  change(name: string, spec: { mounts?: IntentInput["mounts"]; [field: string]: unknown }): void {
    const { mounts, ...rest } = spec;
    this.#server.patch(resource.intents, name, { spec: { ...rest, ...(mounts && { mounts: mounts.map(mountOf) }) } });
  }

  /**
   * The CRD and the controller are of a later version, which knows fields that the agent does not; or they no longer
   * are.
   */
  writeAsLaterVersion(name: string, spec: object | null): void {
    const metadata = { annotations: { [laterVersion]: spec === null ? null : "yes" } };
    this.#server.patch(resource.intents, name, { metadata, spec: spec ?? { ofTomorrow: null } });
  }

  deleteIntent(name: string): void {
    this.#server.delete(resource.intents, name);
  }

  /** Somebody writes the index of a node by hand; null takes it away. */
  writeIndex(node: string, spec: object | null): void {
    this.#server.patch(resource.states, node, { spec });
  }

  /** An intent goes without a release: somebody takes its finalizer away by hand. */
  stripFinalizer(name: string): void {
    this.#server.patch(resource.intents, name, { metadata: { finalizers: null } });
    this.#server.delete(resource.intents, name);
  }

  createSet(name: string, spec: SetInput): void {
    const { mounts, ...rest } = spec;
    this.#server.create(resource.sets, {
      metadata: { name },
      spec: { mode: "Manage", ...rest, mounts: setMounts(mounts) },
    });
  }

  /** What is given replaces what was there, as kubectl apply does it. */
  changeSet(name: string, spec: Partial<SetInput>): void {
    const { mounts, ...rest } = spec;
    const before = this.#server.get(resource.sets, name)?.["spec"] ?? {};
    const after = { ...before, ...rest, ...(mounts && { mounts: setMounts(mounts) }) };
    this.#server.patch(resource.sets, name, { spec: mergeDiff(before, after) ?? {} });
  }

  deleteSet(name: string): void {
    this.#server.delete(resource.sets, name);
  }

  /** A pod that asks for a volume of its node; scheduled already. */
  createPod(name: string, nodeName: string, volumeAttributes: { readonly [key: string]: string }): void {
    const volumes = [{ name: "data", csi: { driver: podDriver, volumeAttributes } }];
    const containers = [{ name: "c", volumeMounts: [{ name: "data", mountPath: "/data" }] }];
    this.#server.create(resource.pods, { metadata: { name, namespace }, spec: { nodeName, volumes, containers } });
  }

  /** A pod that waits at gates, as it was made; without attributes it asks for no volume. */
  createGatedPod(name: string, volumeAttributes: { readonly [key: string]: string }, gates: readonly string[]): void {
    const asks = Object.keys(volumeAttributes).length > 0;
    const volumes = asks ? [{ name: "data", csi: { driver: podDriver, volumeAttributes } }] : [];
    const containers = [{ name: "c", volumeMounts: volumes.map((one) => ({ name: one.name, mountPath: "/data" })) }];
    const spec = { volumes, containers, schedulingGates: gates.map((gate) => ({ name: gate })) };
    this.#server.create(resource.pods, { metadata: { name, namespace }, spec });
  }

  /** Its containers have ended, and it is there still. */
  endPod(name: string): void {
    this.#server.patch(resource.pods, name, { status: { phase: "Succeeded" } }, { namespace, subresource: "status" });
  }

  deletePod(name: string): void {
    this.#server.delete(resource.pods, name, namespace);
  }

  /** Whether one of a set's conditions gives this reason. */
  setReason(name: string, reason: string): boolean {
    const set = this.#server.get(resource.sets, name) as unknown as NodeVolumeSet | undefined;
    return set?.status.conditions?.some((condition) => condition.reason === reason) === true;
  }

  setGone(name: string): boolean {
    return this.#server.get(resource.sets, name) === undefined;
  }

  intent(name: string): NodeVolumeIntent | undefined {
    return this.#server.get(resource.intents, name) as NodeVolumeIntent | undefined;
  }

  intents(): NodeVolumeIntent[] {
    return this.#server.list(resource.intents) as unknown as NodeVolumeIntent[]; // the collection holds nothing else
  }

  /** The reason of the condition Ready. */
  reason(name: string): string | undefined {
    return this.intent(name)?.status.conditions?.find((condition) => condition.type === "Ready")?.reason;
  }

  configMap(name: string, data: { readonly [key: string]: string }): void {
    const known = this.#server.get(resource.configMaps, name, namespace);
    if (known === undefined) this.#server.create(resource.configMaps, { metadata: { name, namespace }, data });
    else this.#server.patch(resource.configMaps, name, { data }, { namespace });
  }

  /** The files that a volume of this object shows. */
  content(kind: "configMap" | "secret", name: string): { [file: string]: string } {
    const object = this.#server.get(kind === "configMap" ? resource.configMaps : resource.secrets, name, namespace);
    const entries = Object.entries((object?.["data"] ?? {}) as { [key: string]: string });
    return Object.fromEntries(
      entries.map(([key, value]) => [key, kind === "secret" ? Buffer.from(value, "base64").toString() : value]),
    );
  }

  /** @param suffix makes its content another */
  secret(name: string, suffix: string): void {
    const data = { password: Buffer.from(`${secretText}${suffix}`).toString("base64") };
    const known = this.#server.get(resource.secrets, name, namespace);
    if (known === undefined) this.#server.create(resource.secrets, { metadata: { name, namespace }, data });
    else this.#server.patch(resource.secrets, name, { data }, { namespace });
  }
}

function mountOf(mount: IntentInput["mounts"][number], index: number): object {
  const given = typeof mount === "string" ? { path: mount } : mount;
  return { name: `set.m${index}`, requester: { kind: "NodeVolumeSet", name: "set", uid: "set-uid" }, ...given };
}

function setMounts(mounts: SetInput["mounts"]): object[] {
  return mounts.map((mount, index) => ({
    name: `m${index}`,
    ...(typeof mount === "string" ? { path: mount } : mount),
  }));
}
