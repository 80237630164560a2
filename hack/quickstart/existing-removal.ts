import { systemNamespace } from "../../src/api/names.ts";
import { ifThere } from "../lib/api-answer.ts";
import { type ApiClient, mergePatch } from "../lib/api-client.ts";
import type { Kubectl } from "../lib/kubectl.ts";
import type { Manifest } from "./inventory.ts";
import { keyOf } from "./inventory.ts";
import type { Screen } from "./screen.ts";

export interface Removal {
  readonly kubectl: Kubectl;
  readonly client: ApiClient;
  readonly node: string;
  /** What was installed, in the order in which it was made. */
  readonly made: readonly Manifest[];
  readonly sample: readonly Manifest[];
  readonly screen: Screen;
}

/**
 * Removes the sample while controller and agent still run, so that everything is unmounted first, then what was
 * installed, last made first. The kinds stay if somebody made sets of their own meanwhile: they would go with them.
 * @throws Error if the cluster refuses a step; what comes after it is left in place
 */
export async function removeMade({ kubectl, client, node, made, sample, screen }: Removal): Promise<void> {
  const sets = sample.filter(({ kind }) => kind === "NodeVolumeSet");
  await remove(kubectl, sets, ["--timeout=60s"]);
  await remove(
    kubectl,
    sample.filter((object) => !sets.includes(object)),
    ["--wait=false"],
  );
  // Without the CRD there is no set. Whatever else keeps the list from being read must not be taken for an empty one.
  const others = await ifThere(client, "GET", "/apis/nodevolume.dev/v1alpha1/nodevolumesets?limit=1");
  const used = ((others?.["items"] ?? []) as unknown[]).length > 0;
  if (used) screen.note("the cluster has other NodeVolumeSets by now: what they need is left in place");
  const removable = used ? [] : made.toReversed();
  if (!removable.some((object) => object.kind === "Namespace")) {
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${systemNamespace}/leases`;
    await ifThere(client, "DELETE", `${leases}/${encodeURIComponent(node)}`);
    const secrets = `/api/v1/namespaces/${systemNamespace}/secrets`;
    await ifThere(client, "DELETE", `${secrets}/nodevolume-controller-token-binding`);
  }
  await allowRemoval(client, removable);
  await remove(kubectl, removable, ["--wait=false"]);
  // Kinds take seconds to go, and who looks, or installs them again, would find them as they go. A namespace may take
  // longer.
  await remove(
    kubectl,
    removable.filter(({ kind }) => kind === "CustomResourceDefinition"),
    ["--timeout=60s"],
  );
  screen.note(`removed ${sample.length} objects of the sample and ${removable.length} that were installed`);
  for (const object of removable) screen.note(`  ${keyOf(object).trim()}`);
}

/** The words that config/policy/definitions.yaml asks for: nothing of the kinds is left that could be unmounted. */
async function allowRemoval(client: ApiClient, removable: readonly Manifest[]): Promise<void> {
  const admission = "/apis/admissionregistration.k8s.io/v1";
  for (const { kind, metadata } of removable) {
    const words = { annotations: { "nodevolume.dev/allow-removal": "true" } };
    const patched = (path: string, change: object) =>
      ifThere(client, "PATCH", `${path}/${metadata.name}`, { contentType: mergePatch, body: { metadata: change } });
    if (kind === "CustomResourceDefinition")
      await patched("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", words);
    if (metadata.name !== "nodevolume-definitions") continue;
    if (kind === "ValidatingAdmissionPolicy")
      await patched(`${admission}/validatingadmissionpolicies`, { finalizers: null });
    if (kind === "ValidatingAdmissionPolicyBinding")
      await patched(`${admission}/validatingadmissionpolicybindings`, { finalizers: null });
  }
}

async function remove(kubectl: Kubectl, items: readonly Manifest[], flags: readonly string[]): Promise<void> {
  if (items.length === 0) return;
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await kubectl.run(["delete", "-f", "-", "--ignore-not-found", ...flags], input);
}
