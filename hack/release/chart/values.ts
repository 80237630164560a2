import { dump } from "js-yaml";
import type { Plain } from "./tree.ts";

/** What the manifests have where values go. */
export interface Defaults {
  readonly image: { readonly repository: string; readonly tag: string; readonly digest: string };
  readonly settings: { readonly [name: string]: string };
  readonly controller: { readonly [field: string]: Plain };
  readonly agent: { readonly [field: string]: Plain };
}

/** PURE. values.yaml, with words for people. */
export function valuesYaml({ image, settings, controller, agent }: Defaults): string {
  const yaml = (value: Plain) => dump(value, { lineWidth: -1, noRefs: true }).trimEnd();
  const prefixes = (settings["NODEVOLUME_ALLOWED_PREFIXES"] ?? "").split(",");
  return `# Generated from config/ by hack/release/helm-chart.ts. What each setting means: docs/settings.md of the repository.

# Where you pushed the image that the Dockerfile builds. A digest goes before the tag.
${yaml({ image })}
imagePullSecrets: []

# Host paths beneath which volumes may be mounted, for both roles. Each gets its volume in the DaemonSet.
${yaml({ allowedPrefixes: prefixes })}
${yaml({ logLevel: settings["NODEVOLUME_LOG_LEVEL"] ?? "" })}
# false: nothing is attached to any node, and only volumes of drivers that attach nothing are used.
controllerAttachDetach: ${settings["NODEVOLUME_CONTROLLER_ATTACH_DETACH"]}

# kubelet's --root-dir, and its --volume-plugin-dir if that is not the usual one.
kubeletDir: /var/lib/kubelet
flexVolumeDir: ""

# Audiences of tokens that kubelet hands over for pods (component pod-tokens, docs/pods.md): [{audience: …, expirationSeconds: …}]
tokenRequests: []

# As the folders of config/components. Those that go into a namespace of their own (object-access, token-access) are applied by kustomize.
components:
  before136: false
  controlPlaneOnly: false
  index: false
  monitoring: false
  networkPolicy: false
  nodeFields: false
  nviViewer: false
  reapOrphans: false
  secureMetrics: false

${yaml({ controller })}

${yaml({ agent })}
`;
}
