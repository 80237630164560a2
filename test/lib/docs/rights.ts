// What the pages say that their reader may do, bound to the ServiceAccount `reader`.
const rbac = "rbac.authorization.k8s.io";
const subjects = [{ kind: "ServiceAccount", name: "reader", namespace: "nodevolume-system" }];
const bound = (kind: "ClusterRole" | "Role", name: string, namespace?: string) => ({
  apiVersion: `${rbac}/v1`,
  kind: namespace === undefined ? "ClusterRoleBinding" : "RoleBinding",
  metadata: { name: `reader-${name}`, ...(namespace !== undefined && { namespace }) },
  roleRef: { apiGroup: rbac, kind, name },
  subjects,
});

const everything = ["get", "list", "watch", "create", "update", "patch", "delete"];

export const rightsOfReaders: readonly object[] = [
  bound("ClusterRole", "nodevolume-admin"),
  bound("ClusterRole", "nvi-viewer"),
  bound("Role", "nvi-viewer", "nodevolume-system"),
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: { name: "docs-reader" },
    rules: [
      {
        apiGroups: [""],
        resources: ["nodes", "namespaces", "pods", "secrets", "configmaps", "serviceaccounts"],
        verbs: everything,
      },
      { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: everything },
      { apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] },
      { apiGroups: ["apps"], resources: ["daemonsets"], verbs: ["get", "list"] },
      { apiGroups: [rbac], resources: ["roles", "rolebindings"], verbs: [...everything, "bind", "escalate"] },
    ],
  },
  bound("ClusterRole", "docs-reader"),
];
