// Objects that YAML of the documentation is, or is a part of.
import { load, loadAll } from "js-yaml";
import type { Block } from "./blocks.ts";

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

/** Where parts of an object with a namespace belong. */
export const docsNamespace = "docs-manifests";

/**
 * PURE. The objects of a block; what is a part of one only gets the rest that it needs.
 * @throws Error for an unknown part
 */
export function manifestsOf(block: Block): Manifest[] | "Kustomization" {
  const [part] = block.told.get("part of") ?? [];
  if (part === "Kustomization") return "Kustomization";
  if (part === undefined) {
    const objects = (loadAll(block.text) as Manifest[]).filter((object) => object !== null);
    return objects.some(({ kind }) => kind === "Kustomization") ? "Kustomization" : objects;
  }
  const metadata = { name: "of-the-documentation" };
  const given = load(block.text) as { readonly [field: string]: unknown };
  const node = { volume: { source: { emptyDir: {} } } };
  const containers = [{ name: "c", image: "registry.example.com/c:1" }];
  const kinds: { readonly [part: string]: Manifest } = {
    "Pod spec": {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...metadata, namespace: docsNamespace },
      spec: { containers, ...given },
    },
    "NodeVolumeSet spec": {
      apiVersion: "nodevolume.dev/v1alpha1",
      kind: "NodeVolumeSet",
      metadata,
      spec: { ...node, ...given },
    },
  };
  const found = kinds[part];
  if (found === undefined)
    throw new Error(`${block.page}:${block.line}: part of ${part}, of which no test knows the rest`);
  return [found];
}
