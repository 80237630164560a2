import { isRecord, type JsonObject, recordIn, stringIn } from "../../kube/json.ts";
import { redacted } from "./redact-secrets.ts";

/** Maps that a driver, a vendor or an administrator fills: that a key is there may matter, its value is not ours. */
const opaque = new Set(["attachmentMetadata", "publishContext", "volumeAttributes", "options", "parameters"]);
/** Annotations that tell of us or of Kubernetes, and hold no copy of the object. */
const toldAnnotations = /^([\w.-]+\.)?(nodevolume\.dev|kubernetes\.io)\//;
const copies = new Set(["kubectl.kubernetes.io/last-applied-configuration"]);

/** PURE. Any object, without managedFields, copies of itself, and values that only a driver understands. */
export function trimmed(object: unknown): unknown {
  if (!isRecord(object)) return object;
  const { metadata, ...rest } = object;
  return { ...(isRecord(metadata) && { metadata: trimmedMetadata(metadata) }), ...(closed(rest) as JsonObject) };
}

function trimmedMetadata({ managedFields: _, annotations, ...rest }: JsonObject): JsonObject {
  if (!isRecord(annotations)) return rest;
  const told = Object.entries(annotations).filter(([key]) => toldAnnotations.test(key) && !copies.has(key));
  return { ...rest, ...(told.length > 0 && { annotations: Object.fromEntries(told) }) };
}

/** Lists stay: mount options are one, and hold no secret by the rules of the API. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => {
    if (key === "metadata" && isRecord(member)) return [key, trimmedMetadata(member)] as const; // of a template
    const values = opaque.has(key) && isRecord(member);
    return [key, values ? blanked(member) : closed(member)] as const;
  });
  return Object.fromEntries(entries);
}

function blanked(map: JsonObject): JsonObject {
  return Object.fromEntries(Object.keys(map).map((key) => [key, redacted]));
}

/** PURE. Of a Node what volumes have to do with: no addresses, no images, nobody's annotations. */
export function trimmedNode(node: unknown): unknown {
  const { metadata = {}, spec, status } = node as { readonly [part: string]: JsonObject };
  const taken = (of: JsonObject | undefined, ...keys: string[]) =>
    Object.fromEntries(keys.flatMap((key) => (of?.[key] === undefined ? [] : [[key, of[key]]])));
  const { annotations } = trimmedMetadata(metadata);
  return {
    metadata: {
      ...taken(metadata, "name", "uid", "labels", "creationTimestamp", "deletionTimestamp"),
      ...(annotations !== undefined && { annotations }),
    },
    spec: taken(spec, "taints", "unschedulable", "providerID"),
    status: taken(status, "conditions", "nodeInfo", "volumesAttached", "volumesInUse"),
  };
}

/** PURE. Of a pod, or what makes pods: variables keep their names, and only settings of ours their values. */
export function trimmedWorkload(object: unknown): unknown {
  return withoutValues(trimmed(object));
}

function withoutValues(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutValues);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => {
    if (key !== "env" || !Array.isArray(member)) return [key, withoutValues(member)];
    return [key, member.map((one) => (ofOurs(one) ? one : { ...(one as object), ...hidden(one) }))];
  });
  return Object.fromEntries(entries);
}

function ofOurs(variable: unknown): boolean {
  return /^NODEVOLUME_|^NODE_OPTIONS$/.test(stringIn(variable, "name") ?? "");
}

function hidden(variable: unknown): object {
  return stringIn(variable, "value") === undefined ? {} : { value: redacted };
}

/** PURE. Our settings and log levels; of any other ConfigMap the names of its keys. */
export function trimmedConfigMap(object: unknown): unknown {
  const map = trimmed(object) as JsonObject;
  const name = stringIn(recordIn(map, "metadata"), "name") ?? "";
  const kept = (key: string) => name === "nodevolume-log-level" || /^NODEVOLUME_/.test(key);
  const data = Object.entries(recordIn(map, "data") ?? {}).map(([key, value]) => [key, kept(key) ? value : redacted]);
  const { binaryData: _, ...rest } = map;
  return { ...rest, data: Object.fromEntries(data) };
}
