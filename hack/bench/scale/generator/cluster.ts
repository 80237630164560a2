import type { Resource } from "../../../../src/api/names.ts";
import { resource } from "../../../../src/api/names.ts";
import { apiVersionOf } from "../../../../src/kube/client/resource-path.ts";
import { basesOf, type Writers, writersOf } from "./bases.ts";
import { type Collection, createCollection } from "./collection.ts";
import { drivers, type Names, type Shape, uidOf } from "./shape.ts";

export interface Served {
  readonly resource: Resource;
  readonly namespaced: boolean;
  /** Of a CustomResourceDefinition with status: generations count, and /status is apart. */
  readonly custom: boolean;
  readonly collection: Collection;
}

/** What the pretended server has. */
export interface Cluster {
  readonly names: Names;
  /** By path of the API and plural: "/api/v1" and "pods". */
  served(root: string, plural: string): Served | undefined;
  of(resource: Resource): Collection;
  /** The version that the server has reached. */
  version(): number;
  nextVersion(): number;
  readonly writers: Writers;
}

/** What is generated is older than anything that is written. */
const firstVersion = 1_000_000_000;
const custom: ReadonlySet<string> = new Set(["nodevolumesets", "nodevolumeintents", "nodevolumestates"]);
const namespaced: ReadonlySet<string> = new Set(["pods", "persistentvolumeclaims", "leases", "events"]);

export function createCluster(names: Names): Cluster {
  let version = firstVersion;
  const writers = writersOf(names);
  const bases = basesOf(names, writers);
  const byPath = new Map<string, Served>();
  for (const one of Object.values(resource) as Resource[]) {
    const collection = createCollection(() => version, bases[one.plural]);
    const root = one.group === "" ? `/api/${one.version}` : `/apis/${one.group}/${one.version}`;
    const served = {
      resource: one,
      namespaced: namespaced.has(one.plural),
      custom: custom.has(one.plural),
      collection,
    };
    byPath.set(`${root} ${one.plural}`, served);
  }
  const cluster: Cluster = {
    names,
    served: (root, plural) => byPath.get(`${root} ${plural}`),
    of(one) {
      const root = one.group === "" ? `/api/${one.version}` : `/apis/${one.group}/${one.version}`;
      const found = byPath.get(`${root} ${one.plural}`);
      if (found === undefined) throw new Error(`the generator has no ${one.plural}`);
      return found.collection;
    },
    version: () => version,
    nextVersion: () => (version += 1),
    writers,
  };
  for (const object of fewObjects(names.shape)) {
    const at = cluster.nextVersion();
    const { one, key, ...rest } = object;
    const metadata = { name: key, uid: uidOf(99, at), resourceVersion: String(at), generation: 1 };
    const text = JSON.stringify({ apiVersion: apiVersionOf(one), kind: one.kind, metadata, ...rest });
    cluster.of(one).put(key, text, at);
  }
  return cluster;
}

/** Drivers, classes, and the policies that the controller asks for before it takes a claim. */
function fewObjects({
  attached,
}: Shape): { readonly one: Resource; readonly key: string; readonly [field: string]: unknown }[] {
  const driver = (name: string, attachRequired: boolean) => ({
    one: resource.csiDrivers,
    key: name,
    spec: { attachRequired, podInfoOnMount: false, volumeLifecycleModes: ["Persistent"], fsGroupPolicy: "File" },
  });
  const policies = ["nodevolume-claim-marks", "nodevolume-claims"].map((key) => ({ one: resource.policies, key }));
  const bindings = ["nodevolume-claim-marks", "nodevolume-claims", "nodevolume-claims-reserved"];
  return [
    driver(drivers.ordinary, attached),
    driver(drivers.ours, false),
    ...Object.values(drivers).map((key) => ({
      one: resource.storageClasses,
      key,
      provisioner: key,
      volumeBindingMode: "Immediate",
    })),
    ...policies,
    ...bindings.map((key) => ({ one: resource.policyBindings, key })),
  ];
}
