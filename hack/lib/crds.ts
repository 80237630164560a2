import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { root } from "./root.ts";

export type Schema = { [key: string]: unknown };

/** The folder of the CRDs, and of the rules that they leave out. */
export const crdFolder = join(root, "crds");

/** Every CRD of the project, by kind. */
export function readCRDs(): Map<string, Schema> {
  const crds = new Map<string, Schema>();
  for (const file of readdirSync(crdFolder).filter((f) => f.startsWith("nodevolume.dev_"))) {
    const crd = load(readFileSync(join(crdFolder, file), "utf8")) as { spec: { names: { kind: string } } } & Schema;
    crds.set(crd.spec.names.kind, crd);
  }
  return crds;
}

/** The OpenAPI schema of the only version of a CRD. */
export function schemaOf(crd: Schema): Schema {
  const versions = (crd["spec"] as { versions: { schema: { openAPIV3Schema: Schema } }[] }).versions;
  const only = versions[0];
  if (versions.length !== 1 || only === undefined) throw new Error("expected exactly one version in a CRD");
  return only.schema.openAPIV3Schema;
}

/** The fields of an object; of anything else none. */
export function fieldsOf(node: Schema | undefined): { [name: string]: Schema } {
  return (node?.["properties"] ?? {}) as { [name: string]: Schema };
}
