import type { Admission } from "./admission.ts";
import { frozen, isJson, type Json, mergePatch, type StoredObject, sameJson } from "./json.ts";
import type { Kind } from "./kinds.ts";
import { Refusal } from "./refusal.ts";

/** One change of a collection, as watches are told of it. */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly version: number;
  readonly object: StoredObject;
  /** What the object was before; for selectors that it has come to match or not. */
  readonly before: StoredObject | undefined;
}

export interface CollectionDeps {
  readonly kind: Kind;
  readonly admission: Admission;
  /** The next resourceVersion of the server. */
  nextVersion(): number;
  newUID(): string;
  /** RFC 3339 in seconds. */
  timestamp(): string;
  onChange(change: Change): void;
  /** Asked before an object is made. @throws Refusal */
  onCreate(object: StoredObject, namespace: string | undefined): void;
}

export type DeleteResult =
  | { readonly held: true; readonly object: StoredObject }
  | { readonly held: false; readonly uid: string };

/** The objects of one resource, and the server's rules for writing them (tried on a real kube-apiserver 1.36.3). */
export class Collection {
  readonly objects = new Map<string, StoredObject>();
  readonly #deps: CollectionDeps;
  /**
   * UIDs of objects as they were created, without the defaults of their status: these are filled in when they are read,
   * so that their first write changes what is stored even if it changes nothing.
   */
  readonly #unwritten = new Set<string>();

  constructor(deps: CollectionDeps) {
    this.#deps = deps;
  }

  get(name: string, namespace?: string): StoredObject {
    const found = this.objects.get(keyOf(name, namespace));
    if (found !== undefined) return found;
    throw new Refusal(404, "NotFound", `${this.#deps.kind.resource.plural} "${name}" not found`);
  }

  /** @param dryRun all is checked, nothing is stored */
  create(sent: StoredObject, namespace: string | undefined, dryRun = false): StoredObject {
    const { kind } = this.#deps;
    const { metadata } = sent;
    if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== "") {
      throw new Refusal(500, undefined, "resourceVersion should not be set on objects to be created");
    }
    const { deletionTimestamp: _ignored, ...given } = metadata;
    const { status, ...rest } = sent;
    const born = {
      ...rest,
      ...(!kind.custom && !kind.statusApart && status !== undefined && { status }),
      metadata: {
        ...given,
        ...(namespace !== undefined && { namespace }),
        uid: this.#deps.newUID(),
        creationTimestamp: this.#deps.timestamp(),
        ...(kind.custom && { generation: 1 }),
      },
    };
    const admitted = this.#deps.admission.admit(kind, born, undefined);
    this.#deps.onCreate(admitted, namespace);
    if (this.objects.has(keyOf(metadata.name, namespace))) {
      throw new Refusal(409, "AlreadyExists", `${kind.resource.plural} "${metadata.name}" already exists`);
    }
    if (dryRun) return frozen(admitted);
    if (kind.custom) this.#unwritten.add(born.metadata.uid);
    return this.#store(undefined, admitted);
  }

  /** @returns also whether it was made */
  replace(
    name: string,
    namespace: string | undefined,
    sent: StoredObject,
    subresource: string,
  ): { readonly object: StoredObject; readonly created: boolean } {
    const { uid, resourceVersion = "" } = sent.metadata;
    if (this.#deps.kind.createdByUpdate && !this.objects.has(keyOf(name, namespace))) {
      if (uid !== undefined) throw conflict(`Precondition failed: UID in precondition: ${uid}, UID in object meta: `);
      const { resourceVersion: _any, ...metadata } = sent.metadata;
      return { object: this.create({ ...sent, metadata }, namespace), created: true };
    }
    const before = this.get(name, namespace);
    if (uid !== undefined && uid !== before.metadata.uid) {
      throw conflict(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`);
    }
    if (resourceVersion === "" && !this.#deps.kind.unconditionalUpdate) {
      throw new Refusal(422, "Invalid", "metadata.resourceVersion: Invalid value: 0: must be specified for an update");
    }
    return { object: this.#update(before, sent, subresource), created: false };
  }

  patch(name: string, namespace: string | undefined, patch: unknown, subresource: string): StoredObject {
    const before = this.get(name, namespace);
    // A patch that makes something else of it is refused below.
    const merged = mergePatch(before, patch) as StoredObject;
    // Of a status patch the server takes nothing but the status, so that a wrong UID goes unnoticed; not so otherwise.
    if (subresource !== "status" && merged.metadata.uid !== before.metadata.uid) {
      throw new Refusal(422, "Invalid", "metadata.uid: Invalid value: field is immutable");
    }
    return this.#update(before, merged, subresource);
  }

  delete(name: string, namespace: string | undefined, options: unknown): DeleteResult {
    const before = this.get(name, namespace);
    const preconditions = isJson(options) && isJson(options["preconditions"]) ? options["preconditions"] : {};
    for (const [field, of] of [
      ["uid", "UID"],
      ["resourceVersion", "ResourceVersion"],
    ] as const) {
      const wanted = preconditions[field];
      if (wanted === undefined || wanted === before.metadata[field]) continue;
      throw conflict(`the ${of} in the precondition (${wanted}) does not match the ${of} in record`);
    }
    if ((before.metadata.finalizers ?? []).length === 0) {
      this.#remove(before, before);
      return { held: false, uid: before.metadata.uid ?? "" };
    }
    if (before.metadata.deletionTimestamp !== undefined) return { held: true, object: before };
    const { generation } = before.metadata;
    const metadata = {
      ...before.metadata,
      deletionTimestamp: this.#deps.timestamp(),
      deletionGracePeriodSeconds: 0,
      ...(generation !== undefined && { generation: generation + 1 }),
    };
    return { held: true, object: this.#store(before, { ...before, metadata }) };
  }

  #update(before: StoredObject, sent: StoredObject, subresource: string): StoredObject {
    const { kind, admission } = this.#deps;
    const { resourceVersion = "" } = sent.metadata;
    if (resourceVersion !== "" && resourceVersion !== before.metadata.resourceVersion) {
      throw conflict("the object has been modified; please apply your changes to the latest version and try again");
    }
    const admitted = nextGeneration(before, admission.admit(kind, this.#combined(before, sent, subresource), before));
    const unwritten = this.#unwritten.has(before.metadata.uid ?? "");
    if (!unwritten && sameJson(before, { ...admitted, metadata: withoutEmpty(admitted.metadata) })) return before;
    const deleting = before.metadata.deletionTimestamp !== undefined;
    const finalizers = admitted.metadata.finalizers ?? [];
    const added = finalizers.filter((finalizer) => !(before.metadata.finalizers ?? []).includes(finalizer));
    if (deleting && added.length > 0) {
      throw new Refusal(
        422,
        "Invalid",
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted",
      );
    }
    if (deleting && finalizers.length === 0) return this.#remove(before, admitted);
    return this.#store(before, admitted);
  }

  /** What of a write counts: the status alone, or everything but it; never what the server itself keeps. */
  #combined(before: StoredObject, sent: StoredObject, subresource: string): StoredObject {
    if (subresource === "status") return { ...before, status: sent["status"] };
    const { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = before.metadata;
    const kept = { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp };
    const all: Json = { ...before.metadata, ...sent.metadata, ...kept };
    const counting: { [key: string]: unknown } = {};
    for (const key in all) {
      const counts = key in kept || key in sent.metadata || key === "deletionGracePeriodSeconds";
      if (counts && all[key] !== undefined) counting[key] = all[key];
    }
    const metadata = counting as unknown as StoredObject["metadata"]; // name, namespace and uid are among them
    if (!this.#deps.kind.custom && !this.#deps.kind.statusApart) return { ...sent, metadata };
    const { status: _elsewhere, ...rest } = sent;
    return { ...rest, ...("status" in before && { status: before["status"] }), metadata };
  }

  #store(before: StoredObject | undefined, after: StoredObject): StoredObject {
    if (before !== undefined) this.#unwritten.delete(before.metadata.uid ?? "");
    const version = this.#deps.nextVersion();
    const object = frozen({
      ...after,
      metadata: { ...withoutEmpty(after.metadata), resourceVersion: String(version) },
    });
    this.objects.set(keyOf(object.metadata.name, object.metadata.namespace), object);
    this.#deps.onChange({ type: before === undefined ? "ADDED" : "MODIFIED", version, object, before });
    return object;
  }

  /** The answer still has the version from before, only watches see the one of the deletion. */
  #remove(before: StoredObject, last: StoredObject): StoredObject {
    this.objects.delete(keyOf(before.metadata.name, before.metadata.namespace));
    const version = this.#deps.nextVersion();
    const metadata = withoutEmpty(last.metadata);
    const object = frozen({ ...last, metadata: { ...metadata, resourceVersion: String(version) } });
    this.#deps.onChange({ type: "DELETED", version, object, before });
    return frozen({ ...last, metadata });
  }
}

/** The generation grows with the spec as it is stored, defaults filled in. */
function nextGeneration(before: StoredObject, after: StoredObject): StoredObject {
  const { generation } = before.metadata;
  if (generation === undefined || sameJson(before["spec"], after["spec"])) return after;
  return { ...after, metadata: { ...after.metadata, generation: generation + 1 } };
}

/** Lists and maps with nothing in them are not kept. */
function withoutEmpty(metadata: StoredObject["metadata"]): StoredObject["metadata"] {
  const { finalizers, labels, annotations, ...rest } = metadata;
  return {
    ...rest,
    ...(finalizers !== undefined && finalizers.length > 0 && { finalizers }),
    ...(labels !== undefined && Object.keys(labels).length > 0 && { labels }),
    ...(annotations !== undefined && Object.keys(annotations).length > 0 && { annotations }),
  };
}

function conflict(message: string): Refusal {
  return new Refusal(409, "Conflict", message);
}

function keyOf(name: string, namespace?: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
