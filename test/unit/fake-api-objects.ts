import type { KubeObject } from "../../src/api/meta.ts";
import type { ApiResponse } from "../../src/kube/client/transport.ts";
import { refuseChanges } from "../sim/api/admission.ts";
import { Refusal } from "../sim/api/refusal.ts";

export type FakeObject = KubeObject & { spec?: unknown; status?: unknown; [key: string]: unknown };

const withStatus = new Set(["nodevolumesets", "nodevolumeintents", "nodevolumestates", "nodes"]);

/**
 * The objects of a FakeApiServer and the rules of writing them: versions, UIDs, generations, preconditions, finalizers.
 * @param publish told of each change as a watch event
 */
export function createFakeObjects(publish: (plural: string, type: string, object: FakeObject, at: number) => void) {
  const collections = new Map<string, Map<string, FakeObject>>();
  let version = 100;
  let uids = 0;

  /** All there is, as a backup has it. */
  function snapshot(): () => void {
    const saved = { version, objects: structuredClone([...collections]) };
    return () => {
      version = saved.version;
      for (const [plural, objects] of saved.objects) collections.set(plural, structuredClone(objects));
    };
  }

  const collection = (plural: string) => {
    const known = collections.get(plural) ?? new Map<string, FakeObject>();
    collections.set(plural, known);
    return known;
  };

  function store(plural: string, before: FakeObject | undefined, after: FakeObject): ApiResponse {
    const key = keyOf(after.metadata.name, after.metadata.namespace);
    if (before !== undefined && sameJson(before, after)) return { status: 200, body: copy(before) };
    version += 1;
    after.metadata.resourceVersion = String(version);
    if (before !== undefined && !sameJson(before.spec, after.spec)) {
      after.metadata.generation = (before.metadata.generation ?? 0) + 1;
    }
    if (after.metadata.deletionTimestamp !== undefined && (after.metadata.finalizers ?? []).length === 0) {
      collection(plural).delete(key);
      publish(plural, "DELETED", copy(after), version);
      return { status: 200, body: copy(after) };
    }
    collection(plural).set(key, after);
    publish(plural, before === undefined ? "ADDED" : "MODIFIED", copy(after), version);
    return { status: before === undefined ? 201 : 200, body: copy(after) };
  }

  function create(plural: string, namespace: string | undefined, sent: FakeObject): ApiResponse {
    const object = copy(sent);
    if (namespace !== undefined) object.metadata.namespace = namespace;
    const key = keyOf(object.metadata.name, namespace);
    if (collection(plural).has(key)) return refusal(409, "AlreadyExists", `${plural} "${key}" already exists`);
    uids += 1;
    object.metadata.uid = `uid-${uids}`;
    object.metadata.generation = 1;
    object.metadata.creationTimestamp ??= new Date(1_700_000_000_000 + version * 1000).toISOString();
    delete object.metadata.deletionTimestamp;
    if (withStatus.has(plural) && plural !== "nodes") object.status = {};
    return store(plural, undefined, object);
  }

  function change(
    plural: string,
    before: FakeObject,
    sent: FakeObject,
    subresource: string,
    verb: "update" | "patch",
  ): ApiResponse {
    const { uid, resourceVersion } = sent.metadata;
    // As the real one: an exchanged UID is a change of an immutable field.
    if (uid !== undefined && uid !== before.metadata.uid) return refusal(422, "Invalid", "metadata.uid: immutable");
    if (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion) {
      return refusal(409, "Conflict", "the object has been modified");
    }
    const merged = verb === "patch" ? (mergeJson(before, sent) as FakeObject) : copy(sent);
    const after =
      subresource === "status"
        ? { ...copy(before), status: merged.status }
        : { ...merged, ...(withStatus.has(plural) && plural !== "nodes" && { status: before.status }) };
    const { creationTimestamp, deletionTimestamp, generation } = before.metadata;
    after.metadata = {
      ...after.metadata,
      ...(before.metadata.uid !== undefined && { uid: before.metadata.uid }),
      resourceVersion: before.metadata.resourceVersion ?? "",
      ...(creationTimestamp !== undefined && { creationTimestamp }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(generation !== undefined && { generation }),
    };
    try {
      if (plural === "nodevolumeintents") refuseChanges(before.spec, after.spec);
    } catch (error) {
      if (error instanceof Refusal) return error.response;
      throw error;
    }
    return store(plural, before, after);
  }

  function remove(plural: string, before: FakeObject, options: unknown): ApiResponse {
    const preconditions = ((options as { preconditions?: object })?.preconditions ?? {}) as {
      uid?: string;
      resourceVersion?: string;
    };
    for (const name of ["uid", "resourceVersion"] as const) {
      if (preconditions[name] !== undefined && preconditions[name] !== before.metadata[name]) {
        return refusal(409, "Conflict", `Precondition failed: ${name}`);
      }
    }
    if (before.metadata.deletionTimestamp !== undefined) return { status: 200, body: copy(before) };
    const after = copy(before);
    after.metadata.deletionTimestamp = new Date(1_700_000_000_000).toISOString();
    after.metadata.generation = (after.metadata.generation ?? 0) + 1;
    const held = (after.metadata.finalizers ?? []).length > 0;
    const stored = store(plural, before, after);
    return held ? stored : { status: 200, body: { kind: "Status", status: "Success" } };
  }

  return {
    collection,
    create,
    change,
    remove,
    version: () => version,
    snapshot,
    /** Moves time on: all versions before are forgotten by watches. */
    bump() {
      version += 1;
      return version;
    },
  };
}

export function refusal(status: number, reason: string, message: string): ApiResponse {
  return { status, body: { kind: "Status", status: "Failure", code: status, reason, message } };
}

export function keyOf(name: string, namespace?: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Whether an object has the label that a selector names, whatever its value; other selectors are not known. */
export function hasLabel({ metadata }: FakeObject, key: string | undefined): boolean {
  return key === undefined || Object.hasOwn(metadata.labels ?? {}, key);
}

/**
 * Of what JSON can say. A test of minutes of virtual time copies each object thousands of times: structuredClone takes
 * ten times as long.
 */
export function copy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one: unknown) => copy(one)) as T;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copy(one as unknown)])) as T;
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** RFC 7386. */
function mergeJson(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return copy(patch);
  const base = typeof target === "object" && target !== null && !Array.isArray(target) ? target : {};
  const out: { [key: string]: unknown } = copy(base) as { [key: string]: unknown };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else out[key] = mergeJson(out[key], value);
  }
  return out;
}
