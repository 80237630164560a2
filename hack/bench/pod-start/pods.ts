// Pods that come and go, and what watches showed of them, of their intents and of their VolumeAttachments.
import { podDriver } from "../../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { ApiClient } from "../../lib/api-client.ts";
import { podImage } from "../../lib/kubelet-node/image.ts";
import {
  Attachments,
  attachmentsPath,
  type Event,
  seen,
  type Watching,
  watchAll,
} from "../attach-latency/sightings.ts";
import { namespace } from "../attach-latency/storage.ts";
import { type Coming, comingSteps, stepsOf } from "../attach-latency/timeline.ts";
import { call } from "../lib/call.ts";
import type { Sample } from "../report/row.ts";

/** Which way a pod has its claim. */
export type Way = "ours" | "kubelet" | "no claim";

interface Pod {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const podsPath = `/api/v1/namespaces/${namespace}/pods`;
const intentsPath = "/apis/nodevolume.dev/v1alpha1/nodevolumeintents";
/** Milliseconds for a pod to come, or to go with what it had. */
const patience = 120_000;

export class BenchPods {
  readonly #admin: ApiClient;
  readonly #ready = new Map<string, number>();
  readonly #gone = new Map<string, number>();
  readonly #attachments = new Attachments();
  /** Of the intent of the pod that is there, of which there is one at a time. */
  #intent: { [step in Coming]?: number } = {};
  #intents = 0;
  readonly #watching: Watching[] = [];
  #born = 0;

  constructor(admin: ApiClient) {
    this.#admin = admin;
  }

  async watch(signal: AbortSignal): Promise<void> {
    const admin = this.#admin;
    this.#watching.push(
      await watchAll<Pod>(admin, podsPath, (event) => this.#sawPod(event), signal),
      await watchAll<NodeVolumeIntent>(admin, intentsPath, (event) => this.#sawIntent(event), signal),
      await watchAll(admin, attachmentsPath, (event) => this.#attachments.saw(event as never), signal),
    );
  }

  /** One pod comes, is Ready, and goes again with all that it had. */
  async comeAndGo(way: Way, claim: string): Promise<Sample> {
    this.#born += 1;
    const name = `bench-${this.#born}`;
    this.#intent = {};
    const writtenAt = performance.now();
    await call(this.#admin, "POST", podsPath, { body: podOf(name, way, claim) });
    await this.#seen(`the pod ${name} to be Ready`, () => this.#ready.has(name));
    const readyAt = this.#ready.get(name) ?? Number.NaN;
    const [attachment] = this.#attachments.since(writtenAt);
    const steps = { ...attachment, ...this.#intent, written: writtenAt, ready: readyAt };
    const deletedAt = performance.now();
    await call(this.#admin, "DELETE", `${podsPath}/${name}`);
    await this.#seen(`the pod ${name} to be gone with what it had`, () => {
      const made = this.#attachments.since(writtenAt);
      return this.#gone.has(name) && this.#intents === 0 && made.every(({ detached }) => detached !== undefined);
    });
    const last = this.#attachments.since(writtenAt).map(({ detached = Number.NaN }) => detached);
    return {
      readyMs: readyAt - writtenAt,
      goneMs: Math.max(this.#gone.get(name) ?? Number.NaN, ...last) - deletedAt,
      ...stepsOf("coming", comingSteps, steps),
    };
  }

  #sawPod({ type, object, at }: Event<Pod>): void {
    const { name } = object.metadata;
    const ready = object.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
    if (ready === true && !this.#ready.has(name)) this.#ready.set(name, at);
    if (type === "DELETED") this.#gone.set(name, at);
  }

  #sawIntent({ type, object, at }: Event<NodeVolumeIntent>): void {
    if (type === "ADDED") this.#intents += 1;
    if (type === "DELETED") this.#intents -= 1;
    this.#intent.intent ??= at;
    if (object.spec.grant !== undefined) this.#intent.granted ??= at;
  }

  async #seen(what: string, holds: () => boolean): Promise<void> {
    await seen(what, patience, this.#watching, holds);
  }
}

/** By the scheduler, as everybody's; only the volume's source differs. */
function podOf(name: string, way: Way, claim: string): object {
  const sources = {
    ours: [{ name: "data", csi: { driver: podDriver, volumeAttributes: { persistentVolumeClaim: claim } } }],
    kubelet: [{ name: "data", persistentVolumeClaim: { claimName: claim } }],
    "no claim": [],
  };
  const volumes: readonly { name: string }[] = sources[way];
  const container = {
    name: "main",
    image: podImage,
    imagePullPolicy: "Never",
    volumeMounts: volumes.map(({ name }) => ({ name, mountPath: "/data" })),
  };
  const spec = {
    hostNetwork: true,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 5,
    containers: [container],
    volumes,
  };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec };
}
