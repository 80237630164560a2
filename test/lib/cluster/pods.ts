// Pods that really start: made by an administrator, followed by a watch, and what became of their containers.
import { type ApiClient, type JsonObject, mergePatch } from "../../../hack/lib/api-client.ts";
import { follow } from "../../../hack/lib/follow.ts";
import { podImage } from "../../../hack/lib/kubelet-node/image.ts";
import { until } from "../../../hack/lib/until.ts";
import { podDriver } from "../../../src/api/names.ts";
import { described, failureOf, type Pod } from "./pod-state.ts";

export interface PodVolume {
  readonly name: string;
  /** As in a pod, beside the name. */
  readonly source: JsonObject;
  /** The pod finds out that it cannot write. */
  readonly readOnly?: boolean;
}

/** An inline volume of our driver. */
export function ofSet(name: string, set: string, more: { [key: string]: string } = {}): PodVolume {
  return { name, source: { csi: { driver: podDriver, volumeAttributes: { set, ...more } } } };
}

export function ofClaim(name: string, claim: string, more: { [key: string]: string } = {}): PodVolume {
  const volumeAttributes = { persistentVolumeClaim: claim, ...more };
  return { name, source: { csi: { driver: podDriver, volumeAttributes } } };
}

/** kubelet's own. */
export function ofKubelet(name: string, claimName: string): PodVolume {
  return { name, source: { persistentVolumeClaim: { claimName } } };
}

/** Those that one suite makes in a namespace; what others have left there is theirs. */
export class Pods implements Disposable {
  readonly namespace: string;
  readonly #admin: ApiClient;
  readonly #end = new AbortController();
  /** What went wrong in containers that have ended, by pod. */
  readonly failures = new Map<string, string>();
  readonly #made = new Set<string>();
  #pods: ReadonlyMap<string, Pod> = new Map();

  constructor(admin: ApiClient, namespace = "default") {
    this.#admin = admin;
    this.namespace = namespace;
    void follow(
      admin,
      this.#path(),
      ({ objects }) => {
        const pods = [...(objects as unknown as ReadonlyMap<string, Pod>)];
        this.#pods = new Map(pods.filter(([name]) => this.#made.has(name)));
        for (const pod of this.#pods.values()) {
          const failure = failureOf(pod);
          if (failure !== undefined) this.failures.set(pod.metadata.name, failure);
        }
      },
      this.#end.signal,
    );
  }

  get(name: string): Pod | undefined {
    return this.#pods.get(name);
  }

  get names(): string[] {
    return [...this.#pods.keys()];
  }

  /** Creates a pod that uses each of its volumes, by reading and writing, until it is ended. */
  async create(name: string, volumes: readonly PodVolume[], more: JsonObject = {}): Promise<void> {
    const folders = volumes.map(({ name, readOnly }) => `${readOnly ? "ro:" : ""}/volumes/${name}`);
    const container = {
      name: "main",
      image: podImage,
      imagePullPolicy: "Never",
      args: volumes.length === 0 ? ["pause"] : ["use", name, ...folders],
      volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/volumes/${name}` })),
    };
    const spec = {
      hostNetwork: true,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 5,
      containers: [container],
      volumes: volumes.map(({ name, source }) => ({ name, ...source })),
      ...more,
    };
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: this.namespace }, spec };
    this.#made.add(name);
    const { status, body: answer } = await this.#admin.call("POST", this.#path(), { body });
    if (status !== 201) throw new Error(`the pod ${name}: ${status} ${String(answer["message"])}`);
  }

  /** Has all of them deleted, and waits until they are gone. */
  async clear(ms: number): Promise<void> {
    await this.delete(...this.#made);
    await this.gone(ms, ...this.#made);
  }

  async delete(...names: string[]): Promise<void> {
    for (const name of names) await this.#admin.call("DELETE", `${this.#path()}/${name}`);
  }

  isReady(name: string): boolean {
    return this.get(name)?.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") === true;
  }

  /** Waits until they run. @throws Error with what their events say */
  async ready(ms: number, ...names: string[]): Promise<void> {
    // Failed for good: a pod whose containers are started again stays Running.
    const hopeless = (name: string) => this.get(name)?.status?.phase === "Failed";
    await this.#until("to be Ready", ms, names, (name) => this.isReady(name), hopeless);
  }

  async gone(ms: number, ...names: string[]): Promise<void> {
    await this.#until("to be gone", ms, names, (name) => this.get(name) === undefined);
  }

  /** What is told of a pod, as "reason: message", each once. */
  async told(name: string): Promise<string[]> {
    const of = `fieldSelector=involvedObject.kind=Pod,involvedObject.name=${name}`;
    const { body } = await this.#admin.call("GET", `/api/v1/namespaces/${this.namespace}/events?${of}`);
    const items = (body["items"] ?? []) as { reason: string; message: string }[];
    return [...new Set(items.map(({ reason, message }) => `${reason}: ${message}`))];
  }

  /** Adds labels or annotations. */
  async annotate(name: string, metadata: JsonObject): Promise<void> {
    await this.#admin.call("PATCH", `${this.#path()}/${name}`, { contentType: mergePatch, body: { metadata } });
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }

  #path(): string {
    return `/api/v1/namespaces/${this.namespace}/pods`;
  }

  async #until(
    what: string,
    ms: number,
    names: readonly string[],
    check: (name: string) => boolean,
    hopeless: (name: string) => boolean = () => false,
  ): Promise<void> {
    const late = () => names.filter((name) => !check(name));
    let why = `not all of ${names.length} pods are ${what}`;
    try {
      await until(`${names.length} pods ${what}`, ms, () => late().length === 0 || late().some(hopeless));
    } catch (error) {
      why = (error as Error).message;
    }
    const [first, ...others] = late();
    if (first === undefined) return;
    // One line for all of them, as a summary shows only the beginning.
    const all = [first, ...others].map((name) => described(name, this.get(name)));
    throw new Error(`${why}: ${all.join("; ")}\n${first}: ${(await this.told(first)).join("\n  ")}`);
  }
}
