import { schema } from "../../../../src/api/schema.gen.ts";
import { parseIntent, parseSet } from "../../../../src/api/validate.ts";
import { apiVersionOf } from "../../../../src/kube/client/resource-path.ts";
import type { Cluster, Served } from "./cluster.ts";
import { managedBy } from "./managed-fields.ts";
import { uidOf } from "./shape.ts";

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: { readonly [key: string]: string };
}

export interface Stored {
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

/** The server says no: an HTTP status, metav1.Status' reason, and why. */
export class Refusal extends Error {
  readonly status: number;
  readonly reason: string;
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** What is written to: one object of one resource. */
export interface Target {
  readonly served: Served;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** The rules for writes, of a real server those that our controller rests on. Each throws Refusal. */
export interface Writes {
  create(target: Target, sent: Stored, dryRun: boolean): Stored;
  replace(target: Target, sent: Stored): Stored;
  mergePatch(target: Target, patch: object, status: boolean): Stored;
  /** @returns the object as it stays if finalizers hold it */
  delete(
    target: Target,
    preconditions: { readonly uid?: string; readonly resourceVersion?: string },
  ): Stored | undefined;
}

export function keyOf({ served, namespace, name }: Target): string {
  return served.namespaced ? `${namespace}/${name}` : name;
}

export function createWrites(cluster: Cluster): Writes {
  let made = 0;

  function existing(target: Target): Stored {
    const text = target.served.collection.get(keyOf(target));
    if (text === undefined) {
      throw new Refusal(404, "NotFound", `${target.served.resource.plural} "${target.name}" not found`);
    }
    return JSON.parse(text) as Stored;
  }

  function store(target: Target, object: Stored, gone = false): Stored {
    const at = cluster.nextVersion();
    const { collection, custom } = target.served;
    const { spec, status } = object as { spec?: object; status?: object };
    const metadata = custom ? managedBy(object.metadata, { spec, status }) : object.metadata;
    const stored = { ...object, metadata: { ...metadata, resourceVersion: String(at) } };
    if (gone) collection.remove(keyOf(target), JSON.stringify(stored), at);
    else collection.put(keyOf(target), JSON.stringify(stored), at);
    return stored;
  }

  function update(target: Target, before: Stored, wanted: Stored): Stored {
    const { resourceVersion, uid } = wanted.metadata;
    if (uid !== undefined && uid !== before.metadata.uid) throw conflict(target, "the UID is another's");
    if (resourceVersion && resourceVersion !== before.metadata.resourceVersion) {
      throw conflict(
        target,
        "the object has been modified; please apply your changes to the latest version and try again",
      );
    }
    const admitted = target.served.custom ? admit(target, wanted, before) : wanted;
    if (same(before, admitted)) return before;
    const { deletionTimestamp, finalizers = [] } = admitted.metadata;
    return store(target, admitted, deletionTimestamp !== undefined && finalizers.length === 0);
  }

  return {
    create(target, sent, dryRun) {
      const { served, namespace, name } = target;
      if (served.resource.plural === "pods" && dryRun) refusePod(cluster, target, sent);
      if (served.collection.get(keyOf(target)) !== undefined) {
        throw new Refusal(409, "AlreadyExists", `${served.resource.plural} "${name}" already exists`);
      }
      made += 1;
      const metadata = {
        ...sent.metadata,
        ...(served.namespaced && namespace !== undefined && { namespace }),
        uid: uidOf(0x1000, made),
        creationTimestamp: now(),
        ...(served.custom && { generation: 1 }),
      };
      const kind = { apiVersion: apiVersionOf(served.resource), kind: served.resource.kind };
      const { status, ...rest }: Stored = { ...sent, ...kind, metadata };
      const object = served.custom
        ? admit(target, rest, undefined)
        : { ...rest, ...(status !== undefined && { status }) };
      return dryRun || served.resource.plural === "events" ? object : store(target, object);
    },
    replace(target, sent) {
      const before = existing(target);
      return update(target, before, { ...sent, metadata: { ...before.metadata, ...sent.metadata } });
    },
    mergePatch(target, patch, status) {
      const before = existing(target);
      const merged = merge(before, patch) as Stored;
      // Of a write to the status only that counts, of any other everything but it.
      const { metadata } = merged;
      const versions = { uid: metadata.uid, resourceVersion: metadata.resourceVersion };
      const wanted = status
        ? { ...before, metadata: { ...before.metadata, ...versions }, status: merged["status"] }
        : { ...merged, ...(target.served.custom && { status: before["status"] }) };
      return update(target, before, wanted as Stored);
    },
    delete(target, { uid, resourceVersion }) {
      const before = existing(target);
      const { metadata } = before;
      if ((uid ?? metadata.uid) !== metadata.uid) throw conflict(target, "the UID in the precondition does not match");
      if ((resourceVersion ?? metadata.resourceVersion) !== metadata.resourceVersion) {
        throw conflict(target, "the ResourceVersion in the precondition does not match");
      }
      if ((metadata.finalizers ?? []).length === 0) {
        store(target, before, true);
        return undefined;
      }
      if (metadata.deletionTimestamp !== undefined) return before;
      const { generation } = metadata;
      const next = { deletionTimestamp: now(), ...(generation !== undefined && { generation: generation + 1 }) };
      return store(target, { ...before, metadata: { ...metadata, ...next } });
    },
  };
}

const statusAtBirth: { readonly [kind: string]: unknown } = {
  NodeVolumeIntent: schema.definitions.NodeVolumeIntent.properties.status.default,
  NodeVolumeSet: schema.definitions.NodeVolumeSet.properties.status.default,
  NodeVolumeState: schema.definitions.NodeVolumeState.properties.status.default,
};

/** Schema, defaults and rules of our kinds, as the server has them from the CRDs. */
function admit({ served }: Target, object: Stored, before: Stored | undefined): Stored {
  const { kind } = served.resource;
  const withStatus = { ...object, status: object["status"] ?? statusAtBirth[kind] };
  if (before !== undefined && same(before["spec"], object["spec"])) return withStatus;
  const { generation = 0 } = before?.metadata ?? {};
  const metadata = { ...object.metadata, ...(before !== undefined && { generation: generation + 1 }) };
  if (kind === "NodeVolumeState") return { ...withStatus, metadata };
  const parsed = kind === "NodeVolumeIntent" ? parseIntent(withStatus) : parseSet(withStatus);
  if (!parsed.ok) {
    const why = parsed.errors.map(({ path, message }) => `${path}: ${message}`).join("; ");
    throw new Refusal(422, "Invalid", `${kind} ${object.metadata.name} is invalid: ${why}`);
  }
  return { ...withStatus, metadata, spec: parsed.value.spec };
}

/** As config/policy/claims.yaml: a pod may not name a claim that is held, or reserved by its owner. */
function refusePod(cluster: Cluster, { namespace, name }: Target, pod: Stored): void {
  const { volumes = [] } = (pod["spec"] ?? {}) as { volumes?: { persistentVolumeClaim?: { claimName: string } }[] };
  for (const { persistentVolumeClaim } of volumes) {
    if (persistentVolumeClaim === undefined) continue;
    const served = cluster.served("/api/v1", "persistentvolumeclaims");
    const text = served?.collection.get(`${namespace}/${persistentVolumeClaim.claimName}`);
    const { labels = {} } = text === undefined ? {} : (JSON.parse(text) as Stored).metadata;
    const closing = ["nodevolume.dev/reserved", "nodevolume.dev/held"].filter((one) => one in labels);
    if (closing.length === 0) continue;
    const why = `claim ${persistentVolumeClaim.claimName} has the label ${closing.join(", ")}`;
    throw new Refusal(403, "Forbidden", `pods "${name}" is forbidden: ValidatingAdmissionPolicy: ${why}`);
  }
}

function conflict({ served, name }: Target, why: string): Refusal {
  return new Refusal(409, "Conflict", `Operation cannot be fulfilled on ${served.resource.plural} "${name}": ${why}`);
}

/** RFC 7386. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const merged = { ...(typeof target === "object" && !Array.isArray(target) ? target : {}) } as {
    [key: string]: unknown;
  };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = merge(merged[key], value);
  }
  return merged;
}

/** What is written twice in the same order is the same; anything else is a change. */
function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
