import type { InstalledFacts } from "./facts.ts";
import { someOf } from "./groups.ts";
import { type Found, failed, limited, ok, unknown } from "./result.ts";

/** As without a setting; src/config.ts has the same, and a test compares the two. */
export const defaultPrefixes = "/var/lib/nodevolume/mounts";

/** PURE. Whether mounts beneath each allowed prefix reach the node: by the DaemonSet's volumes and settings. */
export function checkPrefixes({ daemonSet, prefixes }: Pick<InstalledFacts, "daemonSet" | "prefixes">): Found[] {
  const denied = daemonSet.denied ?? prefixes.denied;
  if (denied !== undefined) return [unknown(denied, "Bind the Role nvi-support: config/components/support-bundle")];
  const [agent] = daemonSet.items;
  if (agent === undefined) return []; // checkAgents reports that
  if (agent.shared.length === 0) {
    const remedy = "To mount volumes: kubectl apply --server-side -k ./config/my-cluster";
    return [limited("no mount of the agents reaches a node (as with observe-only)", remedy)];
  }
  // The last ConfigMap that has a variable counts, and the container's own before it.
  const text = agent.prefixes ?? prefixes.items.at(-1) ?? defaultPrefixes;
  const allowed = text.split(",").flatMap((prefix) => prefix.trim().replace(/(?<=.)\/+$/, "") || []);
  const isBeneath = (path: string, above: string) => path === above || path.startsWith(`${above}/`);
  const without = allowed.filter((prefix) => !agent.shared.some((above) => isBeneath(prefix, above)));
  if (without.length === 0) return [ok(allowed.join(", "))];
  const remedy = `Give the DaemonSet nodevolume-agent ${without[0]} as a volume with mountPropagation: Bidirectional, or remove the prefix`;
  return [failed(`no mount beneath ${someOf(without)} reaches a node`, remedy)];
}
