// What each of the programs beside a CSI driver may do: as their projects' own deploy/kubernetes/rbac.yaml has it.

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

export const sidecars = ["csi-provisioner", "csi-attacher", "csi-resizer"] as const;
export type Sidecar = (typeof sidecars)[number];

const read = ["get", "list", "watch"];
const storage = "storage.k8s.io";

function rule(group: string, resource: string, ...verbs: readonly string[]): Rule {
  return { apiGroups: [group], resources: [resource], verbs };
}

const events = rule("", "events", "list", "watch", "create", "update", "patch");

export const rightsOf: { readonly [sidecar in Sidecar]: readonly Rule[] } = {
  "csi-attacher": [
    rule("", "persistentvolumes", ...read, "patch"),
    rule(storage, "csinodes", ...read),
    rule(storage, "volumeattachments", ...read, "patch"),
    rule(storage, "volumeattachments/status", "patch"),
  ],
  "csi-provisioner": [
    rule("", "persistentvolumes", ...read, "create", "patch", "delete"),
    rule("", "persistentvolumeclaims", ...read, "update"),
    rule(storage, "storageclasses", ...read),
    events,
    rule(storage, "csinodes", ...read),
    rule("", "nodes", ...read),
    rule(storage, "volumeattachments", ...read),
  ],
  "csi-resizer": [
    rule("", "persistentvolumes", ...read, "patch"),
    rule("", "persistentvolumeclaims", ...read),
    rule("", "pods", ...read),
    rule("", "persistentvolumeclaims/status", "patch"),
    events,
    rule(storage, "volumeattributesclasses", ...read),
  ],
};
