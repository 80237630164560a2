// Watches of intents and VolumeAttachments: the clock of every figure.
import { label } from "../../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { ApiClient, JsonObject } from "../../lib/api-client.ts";
import { until } from "../../lib/until.ts";
import type { Step, Timeline } from "./timeline.ts";

export const attachmentsPath = "/apis/storage.k8s.io/v1/volumeattachments";

interface Attachment {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName: string };
  readonly status?: { readonly attached?: boolean };
}

export interface Event<T> {
  readonly type: string;
  readonly object: T;
  /** By performance.now(). */
  readonly at: number;
}

/** What happened to VolumeAttachments, by their names. */
export class Attachments {
  readonly #timelines = new Map<string, { [step in Step]?: number }>();

  saw({ type, object, at }: Event<Attachment>): void {
    const { name, deletionTimestamp } = object.metadata;
    // Made again under its name: another life of it.
    if (type === "ADDED") this.#timelines.delete(name);
    const timeline = this.#timelines.get(name) ?? {};
    this.#timelines.set(name, timeline);
    timeline.attachment ??= at;
    if (object.status?.attached === true) timeline.attached ??= at;
    if (deletionTimestamp !== undefined) timeline.detaching ??= at;
    if (type === "DELETED") {
      // One without a finalizer is deleted at once.
      timeline.detaching ??= at;
      timeline.detached ??= at;
    }
  }

  of(name: string): Timeline {
    return this.#timelines.get(name) ?? {};
  }

  /** Those made since, by performance.now(). */
  since(time: number): Timeline[] {
    return [...this.#timelines.values()].filter(({ attachment = 0 }) => attachment >= time);
  }
}

/** What happened to the intents of each set, of which there is one, as there is one node. */
export class Intents {
  readonly #timelines = new Map<string, { [step in Step]?: number }>();
  readonly #attachmentOf = new Map<string, string>();

  saw({ type, object, at }: Event<NodeVolumeIntent>): void {
    const { metadata, spec, status } = object;
    const set = metadata.labels?.[label.set] ?? "";
    if (type === "ADDED") this.#timelines.delete(set);
    const timeline = this.#timelines.get(set) ?? {};
    this.#timelines.set(set, timeline);
    timeline.intent ??= at;
    if (spec.grant !== undefined) timeline.granted ??= at;
    const attachment = spec.grant?.volumeAttachment?.name;
    if (attachment !== undefined) this.#attachmentOf.set(set, attachment);
    if (isReady(object)) timeline.ready ??= at;
    if (metadata.deletionTimestamp !== undefined) timeline.revoked ??= at;
    if (status?.state === "Released") timeline.released ??= at;
    if (type === "DELETED") timeline.gone ??= at;
  }

  of(set: string): Timeline {
    return this.#timelines.get(set) ?? {};
  }

  /**
   * Before a set of a name that was there already is written: else what is long over would be taken for what is to
   * come.
   */
  forget(set: string): void {
    this.#timelines.delete(set);
    this.#attachmentOf.delete(set);
  }

  /** Name of the VolumeAttachment on which its grant rests. */
  attachmentOf(set: string): string | undefined {
    return this.#attachmentOf.get(set);
  }
}

function isReady({ metadata, status }: NodeVolumeIntent): boolean {
  if (status?.observedGeneration !== metadata.generation) return false;
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
}

export interface Watching {
  /** What ended the watch before its time. */
  failure(): unknown;
}

/** Watches from now on, until the signal aborts. @param saw is called at each event */
export async function watchAll<T>(
  client: ApiClient,
  path: string,
  saw: (event: Event<T>) => void,
  signal: AbortSignal,
): Promise<Watching> {
  const list = await client.call("GET", path);
  if (list.status !== 200) throw new Error(`GET ${path}: ${list.status} ${String(list.body["message"])}`);
  let version = (list.body["metadata"] as { resourceVersion: string }).resourceVersion;
  const onEvent = (event: JsonObject) => {
    const at = performance.now();
    const type = String(event["type"]);
    if (type === "ERROR") throw new Error(`watch ${path}: ${JSON.stringify(event["object"])}`);
    const object = event["object"] as { metadata: { resourceVersion: string } };
    version = object.metadata.resourceVersion;
    if (type !== "BOOKMARK") saw({ type, object: object as T, at });
  };
  let failure: unknown;
  // The server ends the watch of a client that is slow for a moment: it goes on from where it was.
  const follow = async () => {
    while (!signal.aborted) await client.watch(`${path}?watch=true&resourceVersion=${version}`, onEvent, signal);
  };
  follow().catch((error: unknown) => {
    failure = error;
  });
  return { failure: () => failure };
}

/** Waits for what the watches shall show. @throws Error at the deadline, or if a watch has failed */
export async function seen(what: string, ms: number, watching: readonly Watching[], holds: () => boolean) {
  await until(what, ms, () => {
    for (const { failure } of watching) if (failure() !== undefined) throw failure();
    return holds();
  });
}
