// The CRDs as JSON schemas, for editors and kubeconform: what the API server refuses of a manifest, as far as JSON
// Schema can say it.
import { fieldsOf, readCRDs, type Schema, schemaOf } from "../lib/crds.ts";
import type { ArchiveFile } from "./archive.ts";

/**
 * The schema of each kind by its path, GROUP/KIND_VERSION.json, as kubeconform's `-schema-location` templates name it.
 * They are strict: a field that the API server would prune, or refuse with --validate=strict, is refused. CEL rules are
 * not in them.
 */
export function crdSchemas(): Map<string, ArchiveFile> {
  const files = new Map<string, ArchiveFile>();
  for (const [kind, crd] of readCRDs()) {
    const { group, versions } = crd["spec"] as { group: string; versions: readonly [{ name: string }] };
    const [{ name: version }] = versions;
    const schema = manifestSchema(schemaOf(crd), { apiVersion: `${group}/${version}`, kind });
    const content = `${JSON.stringify(schema, undefined, 2)}\n`;
    files.set(`${group}/${kind.toLowerCase()}_${version}.json`, { content });
  }
  return files;
}

/** PURE. The schema of a manifest, draft 7, of the OpenAPI schema that a CRD has for the kind. */
export function manifestSchema(crd: Schema, { apiVersion, kind }: { apiVersion: string; kind: string }): Schema {
  const { properties, required = [], ...schema } = jsonSchema(crd) as Schema & { required?: string[] };
  const named = ["apiVersion", "kind", "metadata"];
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...schema,
    required: [...named, ...required.filter((field) => !named.includes(field))],
    properties: {
      ...(properties as object),
      apiVersion: { type: "string", enum: [apiVersion] },
      kind: { type: "string", enum: [kind] },
      metadata: objectMeta,
    },
  };
}

/** Formats of OpenAPI that JSON Schema does not have. */
const integerFormats: readonly unknown[] = ["int32", "int64"];

function jsonSchema(node: Schema): Schema {
  const schema: Schema = Object.fromEntries(Object.entries(node).filter(([key]) => !key.startsWith("x-kubernetes-")));
  if (node["x-kubernetes-int-or-string"] === true) schema["type"] = ["integer", "string"];
  if (node["x-kubernetes-list-type"] === "set") schema["uniqueItems"] = true;
  if (integerFormats.includes(node["format"])) delete schema["format"];
  for (const inner of ["items", "additionalProperties"])
    if (typeof node[inner] === "object") schema[inner] = jsonSchema(node[inner] as Schema);
  if (node["properties"] === undefined) return schema;
  const fields = fieldsOf(node);
  schema["properties"] = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, jsonSchema(field)]));
  // The API server fills in a default before it looks for what is required.
  const required = (node["required"] as string[] | undefined)?.filter(
    (name) => fields[name]?.["default"] === undefined,
  );
  if (required !== undefined) schema["required"] = required;
  if (node["x-kubernetes-preserve-unknown-fields"] !== true) schema["additionalProperties"] = false;
  return schema;
}

const text = { type: "string" };
const texts = { type: "object", additionalProperties: text };
const time = { type: ["string", "null"] };
const open = { type: "array", items: { type: "object" } };

/** ObjectMeta of apimachinery, with the fields of its JSON. */
const objectMeta: Schema = {
  type: "object",
  additionalProperties: false,
  properties: {
    name: { ...text, description: "Name of the object, unique in the cluster." },
    generateName: { ...text, description: "Start of a name that the API server completes." },
    labels: { ...texts, description: "Labels, by which selectors choose the object." },
    annotations: { ...texts, description: "Data of tools, which no selector reads." },
    finalizers: { type: "array", items: text, description: "Who must act before the object is deleted." },
    ownerReferences: { ...open, description: "Objects with which this one is deleted." },
    namespace: text,
    uid: text,
    resourceVersion: text,
    generation: { type: "integer" },
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: { type: "integer" },
    managedFields: open,
    selfLink: text,
  },
};
