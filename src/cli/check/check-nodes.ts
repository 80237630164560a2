import { counted } from "../../api/values/listed.ts";
import type { Reading } from "../cluster.ts";
import type { NodeFacts } from "./facts.ts";
import { frequencies, someOf } from "./groups.ts";
import { isBefore, isSupportedKubelet, requirements, type Version, versionOf, versionText } from "./requirements.ts";
import { type CheckResult, type Found, failed, limited, named, ok, unknown } from "./result.ts";

const names = (nodes: readonly NodeFacts[]) => someOf(nodes.map(({ name }) => name));

/** PURE. Whether agents can run on the nodes. @param server version of the API server, if that is known */
export function checkNodes(nodes: Reading<NodeFacts>, server: Version | undefined): CheckResult[] {
  if (nodes.denied !== undefined) return named("nodes", unknown(nodes.denied));
  if (nodes.items.length === 0) return named("nodes", limited("there are none", "Add a node: kubectl get nodes"));
  const linux = nodes.items.filter(({ os }) => os === "linux" || os === "");
  return [
    ...named("nodes", checkSystems(nodes.items)),
    ...named("kernels", checkKernels(linux)),
    ...named("kubelets", checkKubelets(linux, server)),
    ...named("container runtimes", ok(frequencies(linux.map(({ runtime }) => runtime.replace("://", " "))))),
    ...named("platform", ...checkPlatforms(nodes.items)),
  ];
}

function checkSystems(nodes: readonly NodeFacts[]): Found {
  const systems = frequencies(nodes.map(({ os, architecture }) => `${os || "unknown"}/${architecture || "unknown"}`));
  const found = `${counted(nodes.length, "node")}: ${systems}`;
  const others = nodes.filter(({ os }) => os !== "linux" && os !== "");
  const known: readonly string[] = requirements.architectures;
  const foreign = nodes.filter(
    ({ os, architecture }) => os === "linux" && architecture !== "" && !known.includes(architecture),
  );
  if (foreign.length > 0) {
    const remedy = `Exclude these nodes in the DaemonSet nodevolume-agent, by a nodeAffinity on kubernetes.io/arch (docs/platforms/eks.md has one)`;
    return failed(`${found}; an agent does not start on ${names(foreign)}: it needs ${known.join(" or ")}`, remedy);
  }
  if (others.length === 0) return ok(found);
  return limited(`${found}; no agent runs on ${names(others)}`, "Nothing to do: sets select Linux nodes alone");
}

function checkKernels(nodes: readonly NodeFacts[]): Found {
  const versions = nodes.flatMap(({ kernel }) => versionOf(kernel) ?? []).sort((a, b) => (isBefore(a, b) ? -1 : 1));
  const [oldest, newest] = [versions[0], versions.at(-1)];
  if (oldest === undefined || newest === undefined) return ok("no kubelet reports one");
  const [from, to] = [versionText(oldest), versionText(newest)];
  const found = from === to ? `Linux ${from}` : `Linux ${from} to ${to}`;
  const old = nodes.filter(({ kernel }) => isOlder(kernel, requirements.kernel));
  if (old.length === 0) return ok(found);
  const least = versionText(requirements.kernel);
  return failed(`${found}: older than ${least} on ${names(old)}`, `Upgrade these nodes to Linux ${least} or later`);
}

/** Whether a version is one, and is older than another. */
function isOlder(text: string, least: Version): boolean {
  const version = versionOf(text);
  return version !== undefined && isBefore(version, least);
}

function checkKubelets(nodes: readonly NodeFacts[], server: Version | undefined): Found {
  const found = frequencies(nodes.map(({ kubelet }) => kubelet));
  const skewed = nodes.filter(({ kubelet }) => server !== undefined && !isSupportedKubelet(kubelet, server));
  if (server !== undefined && skewed.length > 0) {
    const words = `${found}: Kubernetes does not support that of ${names(skewed)} with an API server ${versionText(server)}`;
    return failed(words, "Upgrade the older of the two: kubernetes.io/releases/version-skew-policy");
  }
  const old = nodes.filter(({ kubelet }) => isOlder(kubelet, requirements.kubernetes));
  if (old.length === 0) return ok(found);
  const least = versionText(requirements.kubernetes);
  return limited(`${found}: older than ${least} on ${names(old)}`, `Upgrade kubelet there to ${least} or later`);
}

interface Platform {
  readonly name: string;
  /** What is particular to it, of docs/platforms. */
  readonly page: string;
  readonly is: (node: NodeFacts) => boolean;
}

/** Platforms with a page that has changes to make, or limits, by what their nodes show. */
const platforms: readonly Platform[] = [
  {
    name: "GKE, Container-Optimized OS",
    page: "gke.md",
    is: ({ image, kubelet }) => image.startsWith("Container-Optimized OS") || kubelet.includes("-gke."),
  },
  { name: "Talos", page: "talos.md", is: ({ image }) => image.startsWith("Talos") },
  { name: "Bottlerocket", page: "eks.md", is: ({ image }) => image.startsWith("Bottlerocket") },
  { name: "Fargate", page: "eks.md", is: ({ labels }) => labels["eks.amazonaws.com/compute-type"] === "fargate" },
  {
    name: "OpenShift",
    page: "openshift.md",
    is: ({ image, labels }) =>
      image.startsWith("Red Hat Enterprise Linux CoreOS") || labels["node.openshift.io/os_id"] !== undefined,
  },
  { name: "k0s", page: "k0s.md", is: ({ kubelet }) => kubelet.includes("+k0s") },
  { name: "microk8s", page: "microk8s.md", is: ({ labels }) => labels["microk8s.io/cluster"] !== undefined },
];

function checkPlatforms(nodes: readonly NodeFacts[]): Found[] {
  const found = platforms.flatMap(({ name, page, is }) => {
    const those = nodes.filter(is);
    if (those.length === 0) return [];
    const remedy = `Install it as docs/platforms/${page} describes`;
    const found = `${name} on ${counted(those.length, "node")}: its page has what to change, and its limits`;
    return [limited(found, remedy)];
  });
  return found.length > 0 ? found : [ok(frequencies(nodes.map(({ image }) => image)))];
}
