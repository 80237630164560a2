// The programs of others that quickstart and the tests run: each is pinned by the go.mod of its folder in hack/tools.

/** What every control plane needs. */
export const controlPlaneTools = ["kubectl", "etcd", "kube-apiserver"] as const;

/** What the tests of CSI need besides. */
export const csiTools = [
  "csi-sanity",
  "hostpathplugin",
  "mock-driver",
  "csi-provisioner",
  "csi-attacher",
  "kube-controller-manager",
  "csi-resizer",
] as const;

/** What the benchmark of large clusters needs besides. */
export const benchTools = ["kwok"] as const;

/** What spoils the network of a control plane, for tests. */
const networkTools = ["toxiproxy-server"] as const;

/**
 * What looks at the manifests, for tests: whether the chart is what kustomize makes, and what others have against it.
 */
export const manifestTools = ["helm", "kube-score"] as const;

/** What looks at what a release has, and the oldest API server that it is for: only tests of --all. */
export const releaseTools = ["kube-apiserver-1.32", "kubeconform", "actionlint"] as const;

/** What does with manifests what Argo CD does: for slow tests alone. */
export const gitopsTools = ["gitops"] as const;

/** What a real node needs besides: the end-to-end tests. */
export const nodeTools = [
  "kubelet",
  "kube-scheduler",
  "containerd",
  "containerd-shim-runc-v2",
  "ctr",
  "runc",
  "runc-without-seccomp",
  "pod-program",
] as const;

export type ControlPlaneTool = (typeof controlPlaneTools)[number];
export type CSITool = (typeof csiTools)[number];
export type BenchTool = (typeof benchTools)[number];
type NetworkTool = (typeof networkTools)[number];
type ManifestTool = (typeof manifestTools)[number];
export type ReleaseTool = (typeof releaseTools)[number];
type GitOpsTool = (typeof gitopsTools)[number];
export type NodeTool = (typeof nodeTools)[number];
type TestTool = BenchTool | NetworkTool | ManifestTool | ReleaseTool | GitOpsTool;
export type ToolName = ControlPlaneTool | CSITool | NodeTool | TestTool;

export interface Origin {
  /** Beneath hack/tools. */
  readonly folder: string;
  /** Its version is the tool's. Undefined: the program is our own. */
  readonly module?: string;
  readonly goPackage: string;
  /** The variable that the project's own build writes its version to. */
  readonly versionIn?: string;
  /** Build tags. */
  readonly tags?: string;
  /** Has parts in C: a C compiler is needed. */
  readonly cgo?: true;
}

const kubernetes = (goPackage: string): Origin => ({ folder: "kubernetes", module: "k8s.io/kubernetes", goPackage });

/** A project of kubernetes-csi; its driver and sidecars refuse to run, or are refused, without their version. */
function kubernetesCSI(folder: string, path: string, command: string): Origin {
  const module = `github.com/kubernetes-csi/${path}`;
  return { folder, module, goPackage: `${module}/cmd/${command}`, versionIn: "main.version" };
}

/** Snapshotters that would need headers, or devices, are left out. */
function containerd(command: string): Origin {
  const module = "github.com/containerd/containerd/v2";
  const tags = "no_btrfs no_devmapper no_zfs netgo osusergo";
  return {
    folder: "containerd",
    module,
    goPackage: `${module}/cmd/${command}`,
    tags,
    versionIn: `${module}/version.Version`,
  };
}

const runc = "github.com/opencontainers/runc";
const own = (name: string): Origin => ({ folder: "own", goPackage: `./${name}` });

export const origins: { readonly [name in ToolName]: Origin } = {
  etcd: { folder: "etcd", module: "go.etcd.io/etcd/server/v3", goPackage: "go.etcd.io/etcd/server/v3" },
  kubectl: kubernetes("./kubectl"),
  "kube-apiserver": kubernetes("k8s.io/kubernetes/cmd/kube-apiserver"),
  "kube-controller-manager": kubernetes("k8s.io/kubernetes/cmd/kube-controller-manager"),
  "csi-sanity": kubernetesCSI("csi-sanity", "csi-test/v5", "csi-sanity"),
  hostpathplugin: kubernetesCSI("host-path", "csi-driver-host-path", "hostpathplugin"),
  "mock-driver": kubernetesCSI("mock-driver", "csi-test/v3", "mock-driver"),
  "csi-provisioner": kubernetesCSI("external-provisioner", "external-provisioner/v6", "csi-provisioner"),
  "csi-attacher": kubernetesCSI("external-attacher", "external-attacher/v4", "csi-attacher"),
  "csi-resizer": kubernetesCSI("external-resizer", "external-resizer/v2", "csi-resizer"),
  kwok: { folder: "kwok", module: "sigs.k8s.io/kwok", goPackage: "sigs.k8s.io/kwok/cmd/kwok" },
  "toxiproxy-server": {
    folder: "toxiproxy",
    module: "github.com/Shopify/toxiproxy/v2",
    goPackage: "github.com/Shopify/toxiproxy/v2/cmd/server",
  },
  helm: {
    folder: "helm",
    module: "helm.sh/helm/v3",
    goPackage: "helm.sh/helm/v3/cmd/helm",
    versionIn: "helm.sh/helm/v3/internal/version.version",
  },
  "kube-score": {
    folder: "kube-score",
    module: "github.com/zegl/kube-score",
    goPackage: "github.com/zegl/kube-score/cmd/kube-score",
    versionIn: "main.version",
  },
  "kube-apiserver-1.32": {
    ...kubernetes("k8s.io/kubernetes/cmd/kube-apiserver"),
    folder: "kubernetes-1.32",
  },
  kubeconform: {
    folder: "kubeconform",
    module: "github.com/yannh/kubeconform",
    goPackage: "github.com/yannh/kubeconform/cmd/kubeconform",
    versionIn: "main.version",
  },
  actionlint: {
    folder: "actionlint",
    module: "github.com/rhysd/actionlint",
    goPackage: "github.com/rhysd/actionlint/cmd/actionlint",
  },
  gitops: { folder: "gitops", goPackage: "." },
  kubelet: kubernetes("k8s.io/kubernetes/cmd/kubelet"),
  "kube-scheduler": kubernetes("k8s.io/kubernetes/cmd/kube-scheduler"),
  containerd: containerd("containerd"),
  "containerd-shim-runc-v2": containerd("containerd-shim-runc-v2"),
  ctr: containerd("ctr"),
  runc: { folder: "runc", module: runc, goPackage: runc, versionIn: "main.version", cgo: true },
  "runc-without-seccomp": own("runc-without-seccomp"),
  "pod-program": own("pod-program"),
};
