import { type Resource, resource } from "../../src/api/names.ts";
import { resourcePath } from "../../src/kube/client/resource-path.ts";

const apps = { group: "apps", version: "v1" } as const;
/** What is read beside the resources of src/api/names.ts. */
const others: readonly Resource[] = [
  { ...apps, plural: "deployments", kind: "Deployment" },
  { ...apps, plural: "daemonsets", kind: "DaemonSet" },
  {
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
  },
];

const patterns = [...Object.values(resource), ...others].map((of: Resource) => {
  const root = resourcePath(of).slice(0, -of.plural.length - 1);
  return { of, pattern: new RegExp(`^${root}(?:/namespaces/([^/]+))?/${of.plural}(?:/([^/]+))?(?:/(status))?$`) };
});

/** PURE. What a path of the API names; undefined if that is no object and no collection that is known. */
export function parsePath(path: string) {
  for (const { of, pattern } of patterns) {
    const match = pattern.exec(path);
    if (match === null) continue;
    return { of, plural: of.plural, namespace: match[1], name: match[2], subresource: match[3] ?? "" };
  }
  return undefined;
}
