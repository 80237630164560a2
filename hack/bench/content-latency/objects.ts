// ConfigMaps and Secrets, and who shows them: a pod of kubelet's, and sets of ours.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadAll } from "js-yaml";
import { type ApiClient, mergePatch } from "../../lib/api-client.ts";
import { apply, type KubeObject } from "../../lib/csi/accounts.ts";
import { podImage } from "../../lib/kubelet-node/image.ts";
import { layout } from "../../lib/pretend-node/node.ts";
import { root } from "../../lib/root.ts";
import { namespace } from "../attach-latency/storage.ts";
import { call } from "../lib/call.ts";

export const kinds = ["configMap", "secret"] as const;
export type Kind = (typeof kinds)[number];

/**
 * `both` is shown by a pod and by a set, `ours` by a set alone, which is done with a change long before kubelet looks.
 */
const names = ["both", "ours"] as const;
export type Name = (typeof names)[number];

const collections = {
  configMap: `/api/v1/namespaces/${namespace}/configmaps`,
  secret: `/api/v1/namespaces/${namespace}/secrets`,
} as const;
const pod = "content";

/** Makes the objects, and everything that shows them. @returns the directory of the pod's volumes on the node */
export async function showContent(admin: ApiClient): Promise<string> {
  for (const kind of kinds) {
    for (const name of names) await call(admin, "POST", collections[kind], { body: objectOf(kind, name, "first") });
  }
  await grant(admin);
  for (const kind of kinds) {
    for (const name of names) {
      const source =
        kind === "configMap" ? { configMap: { namespace, name } } : { secret: { namespace, secretName: name } };
      await apply(admin, "/apis/nodevolume.dev/v1alpha1/nodevolumesets", {
        apiVersion: "nodevolume.dev/v1alpha1",
        kind: "NodeVolumeSet",
        metadata: { name: setOf(kind, name) },
        spec: {
          volume: { source },
          mounts: [{ name: "host", path: `${layout.prefix}/${setOf(kind, name)}`, readOnly: true }],
        },
      });
    }
  }
  const answer = await admin.call("POST", `/api/v1/namespaces/${namespace}/pods`, { body: podOfKubelet });
  const { uid } = answer.body["metadata"] as { uid: string };
  return join(layout.kubeletDir, "pods", uid, "volumes");
}

/** Where the change of an object is looked for on the node. */
export function fileOf(
  side: "ours" | "kubelet",
  kind: Kind,
  { name, volumes }: { name: Name; volumes: string },
): string {
  if (side === "ours") return `${layout.prefix}/${setOf(kind, name)}/key`;
  return join(
    volumes,
    kind === "configMap" ? "kubernetes.io~configmap/config-map" : "kubernetes.io~secret/secret",
    "key",
  );
}

export async function change(admin: ApiClient, kind: Kind, name: Name, value: string): Promise<void> {
  const { data } = objectOf(kind, name, value);
  await call(admin, "PATCH", `${collections[kind]}/${name}`, { body: { data }, contentType: mergePatch });
}

/** Milliseconds between two looks at a file: what a figure is late by, at the most. */
const look = 2;

/**
 * Looks at the file, from outside of the node's mount namespace, until it shows the value.
 * @returns when it was seen, by performance.now()
 */
export async function seenIn(file: string, value: string, patienceMs: number): Promise<number> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    if (textOf(file) === value) return performance.now();
    await sleep(look);
  }
  throw new Error(`${file} did not show ${value} within ${patienceMs} ms`);
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined; // not mounted yet
    throw error;
  }
}

function objectOf(kind: Kind, name: Name, value: string) {
  const data = { key: kind === "secret" ? Buffer.from(value).toString("base64") : value };
  return { apiVersion: "v1", kind: kind === "secret" ? "Secret" : "ConfigMap", metadata: { name, namespace }, data };
}

function setOf(kind: Kind, name: Name): string {
  return `${kind === "secret" ? "secret" : "config-map"}-${name}`;
}

/** As an administrator does: the component, with the names. */
async function grant(admin: ApiClient): Promise<void> {
  const component = readFileSync(join(root, "config/components/object-access/role.yaml"), "utf8");
  const objects = loadAll(component.replaceAll("[replace-with-the-names]", `[${names.join(", ")}]`)) as KubeObject[];
  for (const object of objects) {
    const plural = `${object.kind.toLowerCase()}s`;
    await apply(admin, `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${plural}`, object);
  }
}

const podOfKubelet = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: pod, namespace },
  spec: {
    hostNetwork: true,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 5,
    containers: [
      {
        name: "main",
        image: podImage,
        imagePullPolicy: "Never",
        volumeMounts: ["config-map", "secret"].map((name) => ({ name, mountPath: `/${name}` })),
      },
    ],
    volumes: [
      { name: "config-map", configMap: { name: "both" } },
      { name: "secret", secret: { secretName: "both" } },
    ],
  },
};
