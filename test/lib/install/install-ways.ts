// The ways to install besides the README's: the one file, and the chart. Both get what world.overlay() adds.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadAll } from "js-yaml";
import { platformAdmin } from "../../../hack/lib/control-plane/credentials.ts";
import { untilEnforced, untilServed } from "../../../hack/lib/control-plane/install.ts";
import { root } from "../../../hack/lib/root.ts";
import { locateTool } from "../../../hack/lib/tools/locate.ts";
import { chartName } from "../../../hack/release/chart/chart.ts";
import type { InstallWorld } from "./install-world.ts";

const run = promisify(execFile);

interface Kustomization {
  readonly resources: readonly string[];
  readonly images: readonly object[];
  readonly patches: readonly object[];
}

/**
 * A kustomization of other resources than config/default, with the images and patches of `world.overlay(version)`.
 * @param change e.g. other images
 * @returns its folder, where the resources lie or are named from
 */
export function overlayOf(
  world: InstallWorld,
  { name, version, ...change }: { readonly name: string; readonly version: string } & Partial<Kustomization>,
): string {
  const folder = join(world.directory, name);
  mkdirSync(folder, { recursive: true });
  const given = JSON.parse(readFileSync(join(world.overlay(version), "kustomization.yaml"), "utf8")) as Kustomization;
  writeFileSync(join(folder, "kustomization.yaml"), JSON.stringify({ ...given, ...change }));
  return folder;
}

/** Makes the one file of hack/release/install-yaml.ts. @returns it, with what the node needs */
export async function installFile(world: InstallWorld, version: string): Promise<string> {
  const folder = overlayOf(world, { name: `one-file-${version}`, version, resources: ["install.yaml"] });
  const out = join(folder, "install.yaml");
  const kubectl = world.admin.program;
  const images = ["controller", "agent"].flatMap((role) => [
    "--image",
    `${role}=node-volume-operator-${role}:${version}`,
  ]);
  const made = [...images, "--kubectl", kubectl, "--out", out];
  await run(process.execPath, [join(root, "hack/release/install-yaml.ts"), ...made]);
  const file = join(folder, "patched.yaml");
  writeFileSync(file, await world.admin.run(["kustomize", folder]));
  return file;
}

/** Helm, with the chart of hack/release/helm-chart.ts as release `nvo`; what it renders gets what the node needs. */
export class Chart {
  readonly #world: InstallWorld;
  readonly #helm: string;
  readonly #folder: string;

  private constructor(world: InstallWorld, helm: string, folder: string) {
    [this.#world, this.#helm, this.#folder] = [world, helm, folder];
  }

  static async make(world: InstallWorld, version: string): Promise<Chart> {
    const helm = await locateTool("helm", { env: process.env, report: (line) => console.log(`  ${line}`) });
    const folder = overlayOf(world, { name: `chart-${version}`, version, resources: ["rendered.yaml"] });
    const kubectl = world.admin.program;
    await run(process.execPath, [join(root, "hack/release/helm-chart.ts"), "--out", folder, "--kubectl", kubectl]);
    const script = `#!/bin/sh\ncat >'${folder}/rendered.yaml' && exec '${kubectl}' kustomize '${folder}'\n`;
    writeFileSync(join(folder, "post-render"), script, { mode: 0o755 });
    return new Chart(world, helm, folder);
  }

  async install(): Promise<void> {
    const rendered = ["--post-renderer", join(this.#folder, "post-render")];
    await this.#run("install", "nvo", join(this.#folder, chartName), ...rendered);
  }

  async uninstall(): Promise<void> {
    await this.#run("uninstall", "nvo", "--timeout=120s");
  }

  async #run(...args: string[]): Promise<void> {
    const own = ["CACHE", "CONFIG", "DATA"].map((of) => [`HELM_${of}_HOME`, join(this.#folder, of.toLowerCase())]);
    const env = { ...process.env, ...Object.fromEntries(own) };
    const release = ["--namespace", "default", "--kubeconfig", this.#world.admin.kubeconfig];
    await run(this.#helm, [...args, ...release], { env, maxBuffer: 1 << 26 });
  }
}

/** Applies what one role of an overlay has: its workload, and the settings that it names. */
export async function applyRole(world: InstallWorld, overlay: string, kind: "DaemonSet" | "Deployment"): Promise<void> {
  const objects = loadAll(await world.admin.run(["kustomize", overlay])) as { readonly kind: string }[];
  const items = objects.filter((object) => [kind, "ConfigMap"].includes(object.kind));
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await world.admin.run(["apply", "--server-side", "--force-conflicts", "-f", "-"], list);
}

/** The README's command. */
export async function installByKustomize(world: InstallWorld, version: string): Promise<void> {
  await world.admin.run(["apply", "--server-side", "-k", world.overlay(version)]);
  await inForce(world);
}

/** Waits until what was applied is in force, and the agent has looked. Whoever watches sets here may do so. */
export async function inForce(world: InstallWorld): Promise<void> {
  const { admin, server, ca } = world.plane;
  await untilServed(admin);
  await untilEnforced({ admin, server, ca });
  await world.admin.run(["apply", "--server-side", "-f", "-"], JSON.stringify(people));
  await world.rolledOut();
  await world.objects.until("the agent to have looked", 30_000, () => world.objects.agentEpoch(world.node.name) > 0);
}

const people = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name: "people" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "nodevolume-admin" },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: platformAdmin }],
};

/** The other half of `inForce`, for the suite that comes next. */
export async function forgetPeople(world: InstallWorld): Promise<void> {
  await world.admin.run(["delete", "clusterrolebinding", "people", "--ignore-not-found"]);
}

interface Written {
  readonly kind: string;
  readonly status?: unknown;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly generation?: number;
    readonly labels?: { readonly [key: string]: string };
    readonly annotations?: { readonly [key: string]: string };
  };
}

/** Kinds of which a new generation is a rollout. */
const workloads = ["Deployment", "DaemonSet"];

/**
 * The objects of a manifest as the cluster has them, field by field: content and uid, and the generation of workloads,
 * without status and what says only who wrote it.
 * @returns values as JSON, by kind, namespace, name and path
 */
export async function fieldsInCluster(world: InstallWorld, file: string): Promise<Map<string, string>> {
  const { items } = JSON.parse(await world.admin.run(["get", "-f", file, "-o", "json"])) as { items: Written[] };
  const fields = items.flatMap(({ status: _, metadata, ...content }) => {
    const { name, namespace = "", uid } = metadata;
    const generation = workloads.includes(content.kind) ? metadata.generation : undefined;
    const [labels, annotations] = [metadata.labels, metadata.annotations].map(withoutHelm);
    const object = { ...content, uid, generation, labels, annotations };
    return flat(`${content.kind} ${namespace}/${name}`, object);
  });
  return new Map(fields);
}

/** PURE. The leaves of a value by their paths. */
function flat(path: string, value: unknown): [string, string][] {
  if (typeof value !== "object" || value === null) return value === undefined ? [] : [[path, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([key, inner]) => flat(`${path}.${key}`, inner));
}

/** Labels or annotations but those by which Helm knows its own. */
function withoutHelm(of: { readonly [key: string]: string } = {}): object {
  const helms = (key: string) => key === "app.kubernetes.io/managed-by" || key.startsWith("meta.helm.sh/");
  return Object.fromEntries(Object.entries(of).filter(([key]) => !helms(key)));
}

/**
 * Names of the project in the cluster, of any kind that can be listed, but for Events, which end by themselves. Where a
 * kind that was listed is just gone, what kubectl said of that.
 */
export async function namesInCluster(world: InstallWorld): Promise<string[]> {
  const kinds = (await world.admin.run(["api-resources", "--verbs=list", "-o", "name"])).trim().split("\n");
  const asked = kinds.filter((kind) => !kind.startsWith("events")).join();
  const get = ["get", asked, "--all-namespaces", "-o", "name", "--ignore-not-found"];
  const { code, stdout, stderr } = await world.admin.try(get);
  if (code !== 0) return [stderr];
  return [...new Set(stdout.split("\n").filter((name) => name.includes("nodevolume")))].sort();
}
