import type { Resource } from "../../api/names.ts";

/** One object, or without a name the collection. */
export interface ResourceLocation {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: "status" | undefined;
}

/** The path of a collection, an object or its subresource, without query. */
export function resourcePath(resource: Resource, at: ResourceLocation = {}): string {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const namespace = at.namespace === undefined ? "" : `/namespaces/${encodeURIComponent(at.namespace)}`;
  const name = at.name === undefined ? "" : `/${encodeURIComponent(at.name)}`;
  const subresource = at.subresource === undefined ? "" : `/${at.subresource}`;
  return `${root}${namespace}/${resource.plural}${name}${subresource}`;
}

/** The apiVersion of a resource's objects. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}
