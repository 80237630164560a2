import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dump, loadAll } from "js-yaml";
import { root } from "../../lib/root.ts";
import { kustomize } from "../kustomize.ts";
import type { Image, Installed } from "../render-install.ts";
import { chartComponents } from "./components.ts";
import { emit } from "./emit.ts";
import { withValues } from "./places.ts";
import { isMap, type Plain, type Tree, type TreeMap } from "./tree.ts";
import { type Defaults, valuesYaml } from "./values.ts";
import { vary } from "./vary.ts";

type Manifest = { readonly [field: string]: Plain } & {
  readonly kind: string;
  readonly metadata: { readonly name: string };
};

export const chartName = "node-volume-operator";

/**
 * The files of a Helm chart that makes what kustomize makes of config/default and its components, by their paths in the
 * chart's folder. @param images what values.yaml names; what config/default does, if it is left out
 */
export async function chartFiles(options: {
  readonly kubectl: string;
  readonly version: string;
  readonly images?: Installed | undefined;
}): Promise<Map<string, string>> {
  const { kubectl, version, images } = options;
  const base = objectsIn(await kustomize(kubectl, {}));
  const trees = new Map<string, Tree>(base);
  const conditions = new Map<string, string>();
  for (const { name, condition, more } of chartComponents) {
    const varied = objectsIn(await kustomize(kubectl, { components: [name], ...(more && { more }) }));
    for (const title of new Set([...base.keys(), ...varied.keys()])) {
      const [was, shall, now] = [base.get(title), varied.get(title), trees.get(title)];
      if (was === undefined && shall !== undefined) {
        trees.set(title, shall);
        conditions.set(title, condition);
      } else if (shall === undefined) conditions.set(title, `not ${condition}`);
      else if (was !== undefined && now !== undefined) trees.set(title, vary(now, was, shall, condition));
    }
  }
  const files = new Map<string, string>();
  for (const [title, tree] of trees) {
    // Not among the templates: Helm would delete them with the release, and with them every volume.
    const [kind, name] = title.split(" ");
    if (kind === "CustomResourceDefinition") {
      files.set(`crds/${name}.yaml`, dump(tree, { lineWidth: -1, noRefs: true }));
      continue;
    }
    const yaml = emit(withValues(title, mapOf(tree)));
    const condition = conditions.get(title);
    const text = condition === undefined ? yaml : `{{- if ${condition} }}\n${yaml}{{- end }}\n`;
    files.set(`templates/${title.toLowerCase().replace(" ", "-")}.yaml`, text);
  }
  for (const [file, place] of [
    ["_helpers.tpl", "templates/"],
    ["NOTES.txt", "templates/"],
    ["values.schema.json", ""],
  ] as const)
    files.set(`${place}${file}`, readFileSync(join(root, "hack/release/chart/files", file), "utf8"));
  files.set("Chart.yaml", chartYaml(version));
  files.set("values.yaml", valuesYaml(defaultsOf(base, images)));
  return new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function chartYaml(version: string): string {
  const { description, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    description: string;
    license: string;
  };
  const annotations = { "artifacthub.io/license": license };
  const about = { apiVersion: "v2", name: chartName, description, type: "application" };
  return dump({ ...about, version, appVersion: version, kubeVersion: ">=1.32.0-0", annotations });
}

/** By kind and name, which is without what kustomize reckons from its content. */
function objectsIn(text: string): Map<string, Manifest> {
  const objects = loadAll(text) as Manifest[];
  const titled = objects.map((object): [string, Manifest] => {
    const namespace = (object.metadata as { namespace?: string }).namespace;
    // Roles of two namespaces may have the same name.
    const where = namespace === undefined || namespace === "nodevolume-system" ? "" : `-in-${namespace}`;
    return [`${object.kind} ${object.metadata.name.replace(/^(nodevolume-settings)-\w{10}$/, "$1")}${where}`, object];
  });
  const byTitle = new Map(titled);
  if (byTitle.size !== objects.length) throw new Error("two objects have the same kind and name");
  return byTitle;
}

function defaultsOf(base: ReadonlyMap<string, Manifest>, images: Installed | undefined): Defaults {
  const podOf = (title: string) => (base.get(title) as unknown as Workload).spec.template.spec;
  const container = (title: string) => podOf(title).containers[0];
  const [deployment, daemonSet] = ["Deployment nodevolume-controller", "DaemonSet nodevolume-agent"];
  const settings = base.get("ConfigMap nodevolume-settings")?.["data"] as { readonly [name: string]: string };
  const inManifest = (title: string) => {
    const [, repository = "", tag = ""] = /^(.+):([^:/]+)$/.exec(container(title).image) ?? [];
    return { repository, tag, digest: "" };
  };
  const of = (title: string, image: Image | undefined) => ({
    image: image ? { repository: image.name, tag: image.tag ?? "", digest: image.digest ?? "" } : inManifest(title),
    resources: container(title).resources,
    tolerations: podOf(title).tolerations,
  });
  const { replicas, updateStrategy } = { ...specOf(base, deployment), ...specOf(base, daemonSet) };
  return {
    settings,
    controller: { replicas, ...of(deployment, images?.controller) },
    agent: { maxUnavailable: updateStrategy.rollingUpdate.maxUnavailable, ...of(daemonSet, images?.agent) },
  };
}

interface Workload {
  readonly spec: {
    readonly replicas: number;
    readonly updateStrategy: { readonly rollingUpdate: { readonly maxUnavailable: Plain } };
    readonly template: {
      readonly spec: {
        readonly tolerations: Plain;
        readonly containers: readonly [{ readonly image: string; readonly resources: Plain }];
      };
    };
  };
}

function specOf(base: ReadonlyMap<string, Manifest>, title: string): Workload["spec"] {
  return (base.get(title) as unknown as Workload).spec;
}

function mapOf(tree: Tree): TreeMap {
  if (isMap(tree)) return tree;
  throw new Error("a component changes all of an object");
}
