import { platformAdmin } from "../lib/control-plane/credentials.ts";

const rbac = "rbac.authorization.k8s.io";

function bind(role: string) {
  return {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: `quickstart-${role.replaceAll(":", "-")}` },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: role },
    subjects: [{ kind: "User", apiGroup: rbac, name: platformAdmin }],
  };
}

/**
 * What the person at the keyboard may do in a cluster of our own: the project's ClusterRole nodevolume-admin, what an
 * administrator of namespaces may do (the sample brings a namespace, a ConfigMap and a Role), labels of Nodes, and
 * drivers. The usual role `admin` is empty here: a kube-controller-manager would fill it from these parts.
 */
export const rightsOfPeople = {
  apiVersion: "v1",
  kind: "List",
  items: [
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRole",
      metadata: { name: "quickstart-cluster" },
      rules: [
        {
          apiGroups: [""],
          resources: ["namespaces"],
          verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
        },
        { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch", "patch", "update"] },
        // Drivers and their classes; what the cluster makes of claims is only read.
        {
          apiGroups: ["storage.k8s.io"],
          resources: ["csidrivers", "storageclasses"],
          verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
        },
        {
          apiGroups: ["storage.k8s.io"],
          resources: ["csinodes", "volumeattachments"],
          verbs: ["get", "list", "watch"],
        },
        { apiGroups: [""], resources: ["persistentvolumes"], verbs: ["get", "list", "watch"] },
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "list", "watch"] },
      ],
    },
    bind("quickstart-cluster"),
    bind("nodevolume-admin"),
    bind("system:aggregate-to-admin"),
    bind("system:aggregate-to-edit"),
    bind("system:aggregate-to-view"),
  ],
};
