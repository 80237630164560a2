import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { type ApiClient, applyPatch } from "../../lib/api-client.ts";
import { kubeletNode } from "../../lib/kubelet-node/kubelet.ts";
import { layout } from "../../lib/pretend-node/node.ts";
import { call } from "../lib/call.ts";
import { Attachments, attachmentsPath, Intents, seen, type Watching, watchAll } from "./sightings.ts";
import { namespace } from "./storage.ts";
import type { Timeline } from "./timeline.ts";

export interface Source {
  /** Of the set, too. */
  readonly name: string;
  readonly source: object;
}

export const csiSource = (driver: string, volumeHandle: string) => ({ csi: { driver, volumeHandle } });
export const claimSource = (claimName: string) => ({ persistentVolumeClaim: { namespace, claimName } });

const setsPath = "/apis/nodevolume.dev/v1alpha1/nodevolumesets";
const intentsPath = "/apis/nodevolume.dev/v1alpha1/nodevolumeintents";
/** Milliseconds for a hundred volumes on a busy machine. */
const patience = 240_000;

/** Writes sets and deletes them, and keeps what the watches show. */
export class Ours {
  readonly #admin: ApiClient;
  readonly #intents = new Intents();
  readonly #attachments = new Attachments();
  readonly #watching: Watching[] = [];

  constructor(admin: ApiClient) {
    this.#admin = admin;
  }

  async watch(signal: AbortSignal): Promise<void> {
    const intents = this.#intents;
    this.#watching.push(
      await watchAll<NodeVolumeIntent>(this.#admin, intentsPath, (event) => intents.saw(event), signal),
      await watchAll(this.#admin, attachmentsPath, (event) => this.#attachments.saw(event as never), signal),
    );
  }

  /** All of them at once: written, Ready, deleted, gone. @returns each one's times */
  async comeAndGo(sources: readonly Source[]): Promise<Timeline[]> {
    for (const { name } of sources) this.#intents.forget(name);
    const written = new Map<string, number>();
    await Promise.all(
      sources.map(async ({ name, source }) => {
        written.set(name, performance.now());
        await call(this.#admin, "PATCH", `${setsPath}/${name}?fieldManager=bench`, {
          body: setOf(name, source),
          contentType: applyPatch,
        });
      }),
    );
    const every = (step: "ready" | "gone") => () => sources.every(({ name }) => this.#intents.of(name)[step]);
    await seen(`${sources.length} volumes to be Ready`, patience, this.#watching, every("ready"));
    const deleted = new Map<string, number>();
    await Promise.all(
      sources.map(async ({ name }) => {
        deleted.set(name, performance.now());
        await call(this.#admin, "DELETE", `${setsPath}/${name}`);
      }),
    );
    await seen(`${sources.length} volumes to be gone`, patience, this.#watching, every("gone"));
    return sources.map(({ name }) => ({
      ...this.#attachments.of(this.#intents.attachmentOf(name) ?? ""),
      ...this.#intents.of(name),
      written: written.get(name) ?? Number.NaN,
      deleted: deleted.get(name) ?? Number.NaN,
    }));
  }
}

function setOf(name: string, source: object): object {
  return {
    apiVersion: "nodevolume.dev/v1alpha1",
    kind: "NodeVolumeSet",
    metadata: { name },
    spec: {
      nodeSelector: { "kubernetes.io/hostname": kubeletNode },
      volume: { source },
      mounts: [{ name: "data", path: `${layout.prefix}/${name}` }],
    },
  };
}
