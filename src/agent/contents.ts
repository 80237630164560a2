import type { KubeObject } from "../api/meta.ts";
import { resource } from "../api/names.ts";
import { messageOf } from "../errors.ts";
import { ApiError } from "../kube/api-error.ts";
import { createKubeClient } from "../kube/client.ts";
import { createReflector, type Reflector } from "../kube/reflector.ts";
import type { Transport } from "../kube/transport.ts";
import type { ObjectContent, ObjectRef } from "../plugins/plugin.ts";
import type { System } from "../ports.ts";
import type { ContentState } from "./plan-input.ts";
import type { Problem } from "./view.ts";

/** A ConfigMap or Secret, with its data decoded. Held in memory only. */
interface ContentObject extends KubeObject {
  readonly content: ObjectContent;
}

interface Watched {
  readonly ref: ObjectRef;
  readonly reflector: Reflector<ContentObject>;
  denied: Problem | undefined;
  /** What was told of it last. */
  last: ObjectContent | undefined;
}

export interface ContentsDeps {
  readonly system: System;
  readonly transport: Transport;
  /** Something about an object has changed. */
  onChange(ref: ObjectRef): void;
}

/** The objects whose content is shown on this node, each followed by a watch of its own: the agent may read no others. */
export class Contents {
  readonly #deps: ContentsDeps;
  readonly #watched = new Map<string, Watched>();

  constructor(deps: ContentsDeps) {
    this.#deps = deps;
  }

  /** Follows exactly these objects from now on. */
  follow(refs: readonly ObjectRef[]): void {
    const wanted = new Map(refs.map((ref) => [keyOf(ref), ref]));
    for (const [key, watched] of this.#watched) {
      if (wanted.has(key)) continue;
      watched.reflector.stop();
      this.#watched.delete(key);
    }
    for (const [key, ref] of wanted) if (!this.#watched.has(key)) this.#watched.set(key, this.#watch(ref));
  }

  state(ref: ObjectRef): ContentState {
    const content = this.get(ref);
    const watched = this.#watched.get(keyOf(ref));
    if (content !== undefined) {
      return { known: true, version: content.version, ...(watched?.denied && { problem: watched.denied }) };
    }
    const synced = watched?.reflector.store.state().synced === true;
    return { known: false, problem: watched?.denied ?? (synced ? missing(ref) : unknown(ref)) };
  }

  /** @returns undefined if the content is not known */
  get(ref: ObjectRef): ObjectContent | undefined {
    const watched = this.#watched.get(keyOf(ref));
    const store = watched?.reflector.store;
    const object = store?.get(ref.name, ref.namespace);
    if (watched !== undefined && object !== undefined) return latest(watched, object.content);
    return ref.optional && store?.state().synced === true ? { version: "none", data: new Map() } : undefined;
  }

  stop(): void {
    this.follow([]);
  }

  #watch(ref: ObjectRef): Watched {
    const { system, transport, onChange } = this.#deps;
    const reflector = createReflector<ContentObject>({
      system,
      transport,
      resource: ref.kind === "ConfigMap" ? resource.configMaps : resource.secrets,
      namespace: ref.namespace,
      fieldSelector: `metadata.name=${ref.name}`,
      project: (raw) => decode(ref, raw),
      onRestart: (why) => {
        if (why === "failed") void this.#askWhy(watched);
      },
    });
    const watched: Watched = { ref, reflector, denied: undefined, last: undefined };
    const changed = () => {
      watched.denied = undefined;
      onChange(ref);
    };
    reflector.store.subscribe({ onAdd: changed, onUpdate: changed, onDelete: changed, onState: changed });
    reflector.start();
    return watched;
  }

  /** A watch that fails says little; a plain read says whether it is forbidden, be it from the start or since. */
  async #askWhy(watched: Watched): Promise<void> {
    const { ref } = watched;
    const client = createKubeClient({ transport: this.#deps.transport, fieldManager: "" });
    try {
      await client.get(ref.kind === "ConfigMap" ? resource.configMaps : resource.secrets, ref);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) {
        this.#deps.system.log.debug("content cannot be read", {
          kind: ref.kind,
          name: ref.name,
          error: messageOf(error),
        });
        return;
      }
      if (watched.denied !== undefined) return;
      watched.denied = denied(ref);
      this.#deps.onChange(ref);
    }
  }
}

/** The content, under the version that it had first: a label or annotation that is touched writes nothing. */
function latest(watched: Watched, content: ObjectContent): ObjectContent {
  if (watched.last === undefined || !sameData(watched.last.data, content.data)) watched.last = content;
  return watched.last;
}

function sameData(a: ObjectContent["data"], b: ObjectContent["data"]): boolean {
  if (a === b) return true;
  return a.size === b.size && [...a].every(([key, bytes]) => isEqual(bytes, b.get(key)));
}

function isEqual(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && Buffer.compare(a, b) === 0;
}

function decode(ref: ObjectRef, raw: unknown): ContentObject {
  const object = raw as KubeObject & { data?: Strings; binaryData?: Strings }; // of a typed, built-in resource
  const { uid = "", resourceVersion = "" } = object.metadata;
  const text = Object.entries(object.data ?? {}).map(([key, value]): [string, Uint8Array] => [
    key,
    Buffer.from(value, ref.kind === "Secret" ? "base64" : "utf8"),
  ]);
  const binary = Object.entries(object.binaryData ?? {}).map(([key, value]): [string, Uint8Array] => [
    key,
    Buffer.from(value, "base64"),
  ]);
  const content = { version: `${uid}/${resourceVersion}`, data: new Map([...text, ...binary]) };
  return { metadata: object.metadata, content };
}

type Strings = { readonly [key: string]: string };

function keyOf(ref: ObjectRef): string {
  return `${ref.kind}/${ref.namespace}/${ref.name}`;
}

function missing(ref: ObjectRef): Problem {
  const message = `there is no ${ref.kind} ${ref.name} in namespace ${ref.namespace}: create it, or set optional: true`;
  return { reason: ref.kind === "ConfigMap" ? "ConfigMapNotFound" : "SecretNotFound", message, on: on(ref) };
}

function unknown(ref: ObjectRef): Problem {
  return {
    reason: "ContentUnknown",
    message: `${ref.kind} ${ref.namespace}/${ref.name} was not read yet`,
    on: on(ref),
  };
}

function denied(ref: ObjectRef): Problem {
  const resourceName = ref.kind === "ConfigMap" ? "configmaps" : "secrets";
  const message = `the agent may not read ${resourceName} in namespace ${ref.namespace}: grant it there (config/components/object-access)`;
  return { reason: ref.kind === "ConfigMap" ? "ConfigMapAccessDenied" : "SecretAccessDenied", message, on: on(ref) };
}

function on(ref: ObjectRef): NonNullable<Problem["on"]> {
  return { kind: ref.kind, namespace: ref.namespace, name: ref.name };
}
