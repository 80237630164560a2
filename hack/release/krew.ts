import { dump } from "js-yaml";

/** An archive of the plugin, as krew fetches it. */
export interface PluginDownload {
  /** Where it is published. */
  readonly uri: string;
  readonly sha256: string;
  /** What it holds. */
  readonly files: readonly string[];
  /** Undefined of one that needs a Node on the machine, and is the same for each. */
  readonly platform?: { readonly os: string; readonly arch: string };
}

/** PURE. The manifest by which krew installs the plugin. */
export function krewManifest(version: string, downloads: readonly PluginDownload[]): string {
  const needsNode = downloads.some(({ platform }) => platform === undefined);
  const platforms = downloads.map(({ uri, sha256, files, platform }) => ({
    selector:
      platform === undefined
        ? { matchExpressions: [{ key: "os", operator: "In", values: ["linux", "darwin"] }] }
        : { matchLabels: platform },
    uri,
    sha256,
    bin: "kubectl-nvi",
    files: files.map((from) => ({ from, to: "." })),
  }));
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
        ...(needsNode && { caveats: "Needs Node.js 20 or later on the machine where it runs.\n" }),
        platforms,
      },
    },
    { lineWidth: -1 },
  );
}
