import { dump } from "js-yaml";
import type { Plain } from "./tree.ts";

/** What the manifests have where values go. */
export interface Defaults {
  readonly settings: { readonly [name: string]: string };
  readonly controller: { readonly [field: string]: Plain };
  readonly agent: { readonly [field: string]: Plain };
}

/** PURE. values.yaml, with words for people. */
export function valuesYaml({ settings, controller, agent }: Defaults): string {
  const yaml = (value: Plain) => dump(value, { lineWidth: -1, noRefs: true }).trimEnd();
  const prefixes = (settings["NODEVOLUME_ALLOWED_PREFIXES"] ?? "").split(",");
  return `# Generated from config/ by hack/release/helm-chart.ts. What each setting means: docs/settings.md of the repository.

imagePullSecrets: []

# Host paths beneath which volumes may be mounted, for both roles. Each gets its volume in the DaemonSet. Installations of before also
# have /mnt/nodevolume, which many platforms do not let be made (component prefix-mnt).
${yaml({ allowedPrefixes: prefixes })}
${yaml({ logLevel: settings["NODEVOLUME_LOG_LEVEL"] ?? "" })}
# false: nothing is attached to any node, and only volumes of drivers that attach nothing are used.
controllerAttachDetach: ${settings["NODEVOLUME_CONTROLLER_ATTACH_DETACH"]}

# kubelet's --root-dir, and its --volume-plugin-dir if that is not the usual one. Of k0s: /var/lib/k0s/kubelet and
# /usr/libexec/k0s/kubelet-plugins/volume/exec; of microk8s: /var/snap/microk8s/common/var/lib/kubelet.
kubeletDir: /var/lib/kubelet
flexVolumeDir: ""

# Audiences of tokens that kubelet hands over for pods (component pod-tokens, docs/pods.md): [{audience: …, expirationSeconds: …}]
tokenRequests: []

# As the folders of config/components. Those that go into a namespace of their own (object-access, token-access) are applied by kustomize.
components:
  controlPlaneOnly: false
  index: false
  monitoring: false
  networkPolicy: false
  nodeFields: false
  nviViewer: false
  reapOrphans: false
  # Needs Kubernetes 1.36.
  schedulingGates: false
  secureMetrics: false

# image: where you pushed what the Dockerfile builds as target controller; agents run their api-proxy from it, too. A digest goes before
# the tag.
${yaml({ controller })}

# image: of the target agent or agent-minimal.
${yaml({ agent })}
`;
}
