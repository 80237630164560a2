import { dump } from "js-yaml";

/** PURE. The manifest by which krew installs the plugin. @param uri where its archive is published */
export function krewManifest({ version, uri, sha256 }: { version: string; uri: string; sha256: string }): string {
  const files = ["kubectl-nvi", "LICENSE"].map((from) => ({ from, to: "." }));
  // One file of JavaScript: the same for every processor.
  const selector = { matchExpressions: [{ key: "os", operator: "In", values: ["linux", "darwin"] }] };
  return dump(
    {
      apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
      kind: "Plugin",
      metadata: { name: "nvi" },
      spec: {
        version: `v${version}`,
        shortDescription: "Says why a volume of a node is as it is",
        description:
          "Why a pod does not start, or a volume does not come to a node: who holds it, since when, what to do.\nFor clusters with node-volume-operator, and for what kubelet mounts on them.\n",
        caveats: "Needs Node.js 20 or later on the machine where it runs.\n",
        platforms: [{ selector, uri, sha256, bin: "kubectl-nvi", files }],
      },
    },
    { lineWidth: -1 },
  );
}
