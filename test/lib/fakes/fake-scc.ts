// A fake of OpenShift's kind SecurityContextConstraints: its fields and their types, so that an API server finds what
// is misspelt.

const strings = { type: "array", nullable: true, items: { type: "string" } } as const;
const ranges = {
  type: "array",
  items: { type: "object", properties: { min: { type: "integer" }, max: { type: "integer" } } },
} as const;
const truth = { type: "boolean" } as const;
const text = { type: "string" } as const;
const number = { type: "integer" } as const;
const strategy = (properties: object) => ({
  type: "object",
  nullable: true,
  properties: { type: text, ...properties },
});

const properties = {
  ...Object.fromEntries(
    [
      ...["allowHostDirVolumePlugin", "allowHostIPC", "allowHostNetwork", "allowHostPID", "allowHostPorts"],
      ...["allowPrivilegedContainer", "allowPrivilegeEscalation", "readOnlyRootFilesystem"],
    ].map((name) => [name, truth]),
  ),
  ...Object.fromEntries(
    [
      ...["allowedCapabilities", "defaultAddCapabilities", "requiredDropCapabilities", "allowedUnsafeSysctls"],
      ...["forbiddenSysctls", "groups", "users", "volumes", "seccompProfiles"],
    ].map((name) => [name, strings]),
  ),
  priority: { type: "integer", nullable: true },
  runAsUser: strategy({ uid: number, uidRangeMin: number, uidRangeMax: number }),
  seLinuxContext: strategy({
    seLinuxOptions: { type: "object", properties: { level: text, role: text, type: text, user: text } },
  }),
  fsGroup: strategy({ ranges }),
  supplementalGroups: strategy({ ranges }),
};

/** Those without which OpenShift's API refuses one. */
const required = [
  ...["allowHostDirVolumePlugin", "allowHostIPC", "allowHostNetwork", "allowHostPID", "allowHostPorts"],
  ...["allowPrivilegedContainer", "readOnlyRootFilesystem", "volumes"],
];

const names = { kind: "SecurityContextConstraints", plural: "securitycontextconstraints" };

export const fakeSecurityContextConstraints = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "securitycontextconstraints.security.openshift.io" },
  spec: {
    group: "security.openshift.io",
    scope: "Cluster",
    names: { ...names, listKind: `${names.kind}List`, singular: names.plural },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", required, properties } },
      },
    ],
  },
};
