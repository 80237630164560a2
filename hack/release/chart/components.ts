// The components of config/components that the chart has, each with its switch among the values. Not those that go into
// a namespace of somebody else's and name objects there (object-access, token-access): they are applied there, by
// themselves. Nor those of which values are made: allowedPrefixes (prefix-mnt) and kubeletDir (kubelet-dir).
import type { OfDefault } from "../kustomize.ts";

export interface ChartComponent {
  /** Of the folder. */
  readonly name: string;
  /** A pipeline of a template that is true where the component is on. */
  readonly condition: string;
  /** What a kustomization needs besides, for the component to be what the chart makes of it. */
  readonly more?: OfDefault["more"];
}

const on = (name: string, value: string): ChartComponent => ({ name, condition: `.Values.components.${value}` });

/** What stands for the audiences until values name them. */
export const someAudiences = [{ audience: "https://vault.example.com", expirationSeconds: 3600 }];

const audiences = {
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIDriver",
  metadata: { name: "csi.nodevolume.dev" },
  spec: { tokenRequests: someAudiences },
};

/** In the order in which the components stand in a kustomization that has them all. */
export const chartComponents: readonly ChartComponent[] = [
  on("control-plane-only", "controlPlaneOnly"),
  on("index", "index"),
  on("monitoring", "monitoring"),
  on("network-policy", "networkPolicy"),
  on("node-fields", "nodeFields"),
  on("nvi-viewer", "nviViewer"),
  {
    name: "pod-tokens",
    condition: ".Values.tokenRequests",
    more: { patches: [{ patch: JSON.stringify(audiences) }] },
  },
  on("reap-orphans", "reapOrphans"),
  on("scheduling-gates", "schedulingGates"),
  on("secure-metrics", "secureMetrics"),
];
