import { type Resource, resource } from "../../../src/api/names.ts";

/** What differs from kind to kind in how the server treats its objects. */
export interface Kind {
  readonly resource: Resource;
  readonly namespaced: boolean;
  /** Has status as a subresource, and a generation that grows with the spec. */
  readonly custom: boolean;
  /** Has status as a subresource, as every custom one here does: what is written elsewhere leaves it as it is. */
  readonly statusApart?: boolean;
  /** PUT works without a resourceVersion. */
  readonly unconditionalUpdate: boolean;
  /** PUT makes an object that is not there. */
  readonly createdByUpdate: boolean;
}

const custom = { namespaced: false, custom: true, unconditionalUpdate: false, createdByUpdate: false } as const;
const builtIn = { custom: false, unconditionalUpdate: true, createdByUpdate: false } as const;

const kinds: readonly Kind[] = [
  { resource: resource.sets, ...custom },
  { resource: resource.intents, ...custom },
  { resource: resource.states, ...custom },
  { resource: resource.nodes, namespaced: false, ...builtIn },
  { resource: resource.configMaps, namespaced: true, ...builtIn },
  { resource: resource.secrets, namespaced: true, ...builtIn },
  { resource: resource.leases, namespaced: true, ...builtIn, unconditionalUpdate: false, createdByUpdate: true },
  { resource: resource.events, namespaced: true, ...builtIn, createdByUpdate: true },
  { resource: resource.namespaces, namespaced: false, ...builtIn },
  { resource: resource.pods, namespaced: true, ...builtIn, statusApart: true },
  { resource: resource.claims, namespaced: true, ...builtIn, statusApart: true },
  { resource: resource.persistentVolumes, namespaced: false, ...builtIn, statusApart: true },
  {
    resource: resource.volumeAttachments,
    namespaced: false,
    ...builtIn,
    statusApart: true,
    unconditionalUpdate: false,
  },
  { resource: resource.csiNodes, namespaced: false, ...builtIn, unconditionalUpdate: false },
  { resource: resource.csiDrivers, namespaced: false, ...builtIn, unconditionalUpdate: false },
  { resource: resource.storageClasses, namespaced: false, ...builtIn },
  { resource: resource.policies, namespaced: false, ...builtIn },
  { resource: resource.policyBindings, namespaced: false, ...builtIn },
];

/** What a path names. */
export interface Location {
  readonly kind: Kind;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource: "" | "status";
}

/** @returns undefined for a path that the server does not have */
export function locate(path: string): Location | undefined {
  const match =
    /^\/(?:api|apis\/([^/]+))\/([^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/(status))?$/.exec(path);
  if (match === null) return undefined;
  const [, group = "", version, namespace, plural, name, subresource] = match;
  const kind = kinds.find(({ resource: r }) => r.group === group && r.version === version && r.plural === plural);
  if (kind === undefined) return undefined;
  return {
    kind,
    ...(namespace !== undefined && { namespace: decodeURIComponent(namespace) }),
    ...(name !== undefined && { name: decodeURIComponent(name) }),
    subresource: subresource === "status" ? "status" : "",
  };
}

export function kindOf(of: Resource): Kind {
  const found = kinds.find((kind) => kind.resource.plural === of.plural && kind.resource.group === of.group);
  if (found === undefined) throw new RangeError(`no kind for ${of.plural}`);
  return found;
}
