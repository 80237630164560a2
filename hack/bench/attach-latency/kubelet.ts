// The other side: pods on a real kubelet, whose node has the same driver with its attacher, attachRequired true.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ApiClient, createApiClient } from "../../lib/api-client.ts";
import { startProcess } from "../../lib/process.ts";
import { until } from "../../lib/until.ts";
import { call } from "../lib/call.ts";
import type { Sample } from "../report/row.ts";
import { Attachments, attachmentsPath, type Event, seen, type Watching, watchAll } from "./sightings.ts";
import { driverName, makeClaims, makeStorageClass, namespace, removeClaims } from "./storage.ts";
import type { Timeline } from "./timeline.ts";

export interface KubeletOptions {
  /** Of a cluster whose pods nobody else makes meanwhile. */
  readonly client: ApiClient;
  readonly node: string;
  /** Which the node has, or can pull: it is to start and stop at once, and to need nothing. */
  readonly image: string;
}

export interface OtherCluster {
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly directory: string;
}

interface Pod {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const podsPath = `/api/v1/namespaces/${namespace}/pods`;
/** Milliseconds for a pod with a hundred volumes. */
const patience = 300_000;

/** Milliseconds from the writes to what the watches show. */
interface Life {
  readonly readyMs: number;
  readonly goneMs: number;
  /** Of its VolumeAttachments. */
  readonly attachments: readonly Timeline[];
  readonly writtenAt: number;
  readonly deletedAt: number;
}

export class Kubelet {
  readonly #client: ApiClient;
  readonly #node: string;
  readonly #image: string;
  readonly #ready = new Map<string, number>();
  readonly #gone = new Map<string, number>();
  readonly #attachments = new Attachments();
  readonly #watching: Watching[] = [];
  #pods = 0;

  private constructor({ client, node, image }: KubeletOptions) {
    this.#client = client;
    this.#node = node;
    this.#image = image;
  }

  static async start(options: KubeletOptions, signal: AbortSignal): Promise<Kubelet> {
    const { client } = options;
    const kubelet = new Kubelet(options);
    kubelet.#watching.push(
      await watchAll<Pod>(client, podsPath, (event) => kubelet.#sawPod(event), signal),
      await watchAll(client, attachmentsPath, (event) => kubelet.#attachments.saw(event as never), signal),
    );
    return kubelet;
  }

  async prepare(claims: readonly string[]): Promise<void> {
    await makeStorageClass(this.#client);
    await makeClaims(this.#client, claims);
  }

  async tidy(claims: readonly string[]): Promise<void> {
    await removeClaims(this.#client, claims);
    await this.#client.call("DELETE", "/apis/storage.k8s.io/v1/storageclasses/nodevolume-bench");
  }

  /**
   * A pod without a claim, and then one with these. What the first takes is no matter of volumes (the sandbox, the
   * container) and is taken from what the second takes.
   */
  async comeAndGo(claims: readonly string[]): Promise<Sample> {
    const plain = await this.#live([]);
    const life = await this.#live(claims);
    const last = (of: (timeline: Timeline) => number | undefined) =>
      Math.max(...life.attachments.map((timeline) => of(timeline) ?? Number.NaN));
    const attached = last(({ attached }) => attached);
    return {
      podMs: life.readyMs,
      plainPodMs: plain.readyMs,
      mountedMs: life.readyMs - plain.readyMs,
      attachedMs: attached - life.writtenAt,
      afterAttachedMs: life.writtenAt + life.readyMs - attached,
      releasedMs: last(({ detached }) => detached) - life.deletedAt - plain.goneMs,
    };
  }

  async #live(claims: readonly string[]): Promise<Life> {
    this.#pods += 1;
    const name = `nodevolume-bench-${process.pid}-${this.#pods}`;
    const writtenAt = performance.now();
    await call(this.#client, "POST", podsPath, { body: this.#podOf(name, claims) });
    await seen(`the pod ${name} to be Ready`, patience, this.#watching, () => this.#ready.has(name));
    const made = claims.length === 0 ? [] : this.#attachments.since(writtenAt);
    if (made.length !== claims.length)
      throw new Error(
        `${made.length} VolumeAttachments were seen, of ${claims.length} claims: who else is at work there?`,
      );
    const deletedAt = performance.now();
    await call(this.#client, "DELETE", `${podsPath}/${name}`);
    const detached = () => made.every((one) => one.detached !== undefined);
    const ended = () => this.#gone.has(name) && detached();
    await seen(`the pod ${name} and its attachments to be gone`, patience, this.#watching, ended);
    const at = (times: ReadonlyMap<string, number>) => times.get(name) ?? Number.NaN;
    return {
      writtenAt,
      deletedAt,
      readyMs: at(this.#ready) - writtenAt,
      goneMs: at(this.#gone) - deletedAt,
      attachments: made,
    };
  }

  #sawPod({ type, object, at }: Event<Pod>): void {
    const { name } = object.metadata;
    const ready = object.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
    if (ready === true && !this.#ready.has(name)) this.#ready.set(name, at);
    if (type === "DELETED") this.#gone.set(name, at);
  }

  #podOf(name: string, claims: readonly string[]): object {
    const volumes = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
    const volumeMounts = claims.map((claim) => ({ name: claim, mountPath: `/volumes/${claim}` }));
    const container = { name: "bench", image: this.#image, imagePullPolicy: "IfNotPresent", volumeMounts };
    const spec = {
      nodeName: this.#node,
      hostNetwork: true,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 5,
      containers: [container],
      volumes,
    };
    return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec };
  }
}

/**
 * A client of another cluster. Whatever way of authentication the kubeconfig uses, kubectl knows it: requests go
 * through it.
 */
export async function clientOf({ kubeconfig, kubectl, directory }: OtherCluster): Promise<ApiClient> {
  const socketPath = join(directory, "proxy.sock");
  const logFile = join(directory, "proxy.log");
  const args = ["--kubeconfig", kubeconfig, "proxy", `--unix-socket=${socketPath}`];
  const proxy = startProcess({ name: "kubectl proxy", command: kubectl, args, logFile });
  await until("kubectl proxy to listen", 15_000, () => {
    if (proxy.ending() !== undefined) throw new Error(`kubectl proxy ${proxy.ending()}`);
    return existsSync(socketPath);
  });
  return createApiClient({ socketPath });
}

/** The first node whose kubelet knows the driver. @throws Error if there is none, or if the driver does not attach */
export async function nodeOf(client: ApiClient): Promise<string> {
  const driver = await client.call("GET", `/apis/storage.k8s.io/v1/csidrivers/${driverName}`);
  const spec = driver.body["spec"] as { attachRequired?: boolean } | undefined;
  if (spec?.attachRequired !== true) throw new Error(`the cluster of KUBECONFIG has no ${driverName} that attaches`);
  const { body } = await client.call("GET", "/apis/storage.k8s.io/v1/csinodes");
  const items = body["items"] as { metadata: { name: string }; spec: { drivers?: readonly { name: string }[] } }[];
  const found = items.find(({ spec }) => spec.drivers?.some(({ name }) => name === driverName));
  if (found === undefined) throw new Error(`no node in the cluster of KUBECONFIG has ${driverName}`);
  return found.metadata.name;
}
