// A cluster with a controller, which all files share that use it, two nodes a file with a CSI driver, and fakes of who
// is missing: no agent, no driver, no external-attacher runs. The fakes say what the real ones are known to say, as
// their own users or as an administrator. What a file makes stays: its names are its own, but for those of Nodes,
// labels and attachments, which this sees to.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ApiAnswer, ApiClient, JsonObject } from "../../hack/lib/api-client.ts";
import { controllerIdentity } from "../../hack/lib/control-plane/identities.ts";
import { createNodeObject, type NodeRef } from "../../hack/lib/pretend-node/object.ts";
import { tailOf } from "../../hack/lib/process.ts";
import { startController } from "../../hack/lib/roles.ts";
import { until } from "../../hack/lib/until.ts";
import { allowedSetLabelPrefix } from "../../src/api/names.ts";
import type { NodeVolumeIntent, VolumeSource } from "../../src/api/types.gen.ts";
import { bundles } from "../lib/cluster/bundles.ts";
import { startCluster, type TestCluster } from "../lib/cluster/cluster.ts";
import { expectStatus, patch, paths } from "../lib/cluster/policy-world.ts";

export const driver = "disk.example";
export const attachmentsPath = "/apis/storage.k8s.io/v1/volumeattachments";
const setsPath = "/apis/nodevolume.dev/v1alpha1/nodevolumesets";

export interface AttachWorld {
  readonly cluster: TestCluster;
  readonly admin: ApiClient;
  readonly nodes: readonly [NodeRef, NodeRef];
  /**
   * Makes a set with a volume on the node of a role, or on both. The claim that it names allows it, unless it shall
   * not.
   */
  set(name: string, source: VolumeSource, role?: "a" | "b", allowed?: boolean): Promise<void>;
  /** The owner of a claim allows a set to use it, or no longer does. */
  allow(source: VolumeSource, set: string, allowed: boolean): Promise<void>;
  /** The label of one of the two nodes, `a` or `b`. */
  role(name: string): string;
  intents(set: string): Promise<NodeVolumeIntent[]>;
  /** Waits for the grant of a set's only intent. */
  granted(set: string): Promise<NodeVolumeIntent>;
  /** Of its nodes. */
  attachments(): Promise<FakeAttachment[]>;
  /** As the external-attacher does: attached, or an error. */
  attach(name: string, status?: object): Promise<void>;
  /** As it does once the driver has detached: its finalizer goes. */
  detached(name: string): Promise<void>;
  /** What an agent says when it holds nothing any more. */
  acknowledge(intent: NodeVolumeIntent, more?: object): Promise<ApiAnswer>;
  create(path: string, body: object): Promise<JsonObject>;
  get(path: string): Promise<JsonObject | undefined>;
}

interface FakeAttachment extends JsonObject {
  metadata: { name: string; uid: string; deletionTimestamp?: string; annotations?: { [key: string]: string } };
  spec: { nodeName: string; attacher: string; source: JsonObject };
}

interface WithController {
  readonly cluster: TestCluster;
  readonly logFile: string;
}

let shared: Promise<WithController> | undefined;

async function start(): Promise<WithController> {
  await bundles();
  const cluster = await startCluster();
  const { controlPlane, admin } = cluster;
  const logs = join(cluster.directory, "logs");
  mkdirSync(logs, { recursive: true });
  const identity = await controllerIdentity(controlPlane, {}, join(cluster.directory, "controller"));
  const logFile = join(logs, "controller.log");
  startController("c0", { server: controlPlane.server, identity, logFile, env: process.env });
  // Who would make it is not there.
  const account = core("ServiceAccount", { metadata: { name: "default" } });
  await made(admin, "/api/v1/namespaces/default/serviceaccounts", account);
  return { cluster, logFile };
}

async function made(admin: ApiClient, path: string, body: object): Promise<JsonObject> {
  const answer = await admin.call("POST", path, { body });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** @param prefix of the names of its nodes, which no other file has */
export async function startAttachWorld(prefix: string): Promise<AttachWorld> {
  shared ??= start();
  const { cluster, logFile } = await shared;
  const { admin } = cluster;
  const create = (path: string, body: object) => made(admin, path, body);
  const role = (name: string) => `${prefix}-${name}`;

  async function node(name: string): Promise<NodeRef> {
    const made = await createNodeObject(admin, role(name), { role: role(name), world: prefix });
    const drivers = [{ name: driver, nodeID: `id-${name}`, topologyKeys: [], allocatable: { count: 2 } }];
    const metadata = { name: made.name };
    await create("/apis/storage.k8s.io/v1/csinodes", storage("CSINode", { metadata, spec: { drivers } }));
    return made;
  }
  const nodes = [await node("a"), await node("b")] as const;
  const agents = new Map<string, ApiClient>();
  for (const one of nodes) {
    agents.set(one.name, cluster.as(await cluster.token("nodevolume-agent", { kind: "Node", ...one })));
  }

  const world: AttachWorld = {
    cluster,
    admin,
    nodes,
    create,
    role,
    async get(path) {
      const { status, body } = await admin.call("GET", path);
      return status === 404 ? undefined : body;
    },
    async allow({ persistentVolumeClaim: claim }, set, allowed) {
      if (claim === undefined) return;
      const path = `/api/v1/namespaces/${claim.namespace}/persistentvolumeclaims/${claim.claimName}`;
      const labels = { [allowedSetLabelPrefix + set]: allowed ? "true" : null };
      expectStatus(200, await patch(admin, path, { metadata: { labels } }));
    },
    async set(name, source, on, allowed = true) {
      if (allowed) await world.allow(source, name, true);
      const mounts = [{ name: "host", path: `/mnt/nodevolume/${name}` }];
      const nodeSelector = on === undefined ? { world: prefix } : { role: role(on) };
      const spec = { volume: { source }, mounts, nodeSelector };
      const body = { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet", metadata: { name }, spec };
      await create(setsPath, body);
    },
    async intents(set) {
      const { body } = await admin.call("GET", `${paths.intents}?labelSelector=set.nodevolume.dev/${set}`);
      return body["items"] as NodeVolumeIntent[];
    },
    async granted(set) {
      let found: NodeVolumeIntent | undefined;
      await waitFor(`a grant for ${set}`, async () => {
        found = (await world.intents(set)).find(({ spec }) => spec.grant !== undefined);
        return found !== undefined;
      });
      return found as NodeVolumeIntent;
    },
    async attachments() {
      const { body } = await admin.call("GET", attachmentsPath);
      const own = nodes.map(({ name }) => name);
      return (body["items"] as FakeAttachment[]).filter(({ spec }) => own.includes(spec.nodeName));
    },
    async attach(name, status = { attached: true }) {
      const finalizers = [`external-attacher/${driver}`];
      await patch(admin, `${attachmentsPath}/${name}`, { metadata: { finalizers } });
      await patch(admin, `${attachmentsPath}/${name}/status`, { status });
    },
    async detached(name) {
      await patch(admin, `${attachmentsPath}/${name}`, { metadata: { finalizers: null } });
    },
    async acknowledge({ metadata, spec }, more = {}) {
      const status = {
        observedUID: metadata.uid,
        observedGeneration: metadata.generation,
        grantID: spec.grant?.id,
        inUse: false,
        state: "Released",
        agent: { bootID: "b", epoch: 1 },
        ...more,
      };
      const agent = agents.get(spec.nodeName) as ApiClient;
      return patch(agent, `${paths.intents}/${metadata.name}/status`, { status });
    },
  };

  async function waitFor(what: string, check: () => Promise<boolean>): Promise<void> {
    try {
      await until(what, 20_000, check);
    } catch (error) {
      throw new Error(`${String(error)}\n${tailOf(logFile)}`);
    }
  }
  return world;
}

export function core(kind: string, body: object): object {
  return { apiVersion: "v1", kind, ...body };
}

export function storage(kind: string, body: object): object {
  return { apiVersion: "storage.k8s.io/v1", kind, ...body };
}
