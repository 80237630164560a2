import type { Credentials } from "./credentials.ts";

/** Of etcd, in its working folder. */
export const etcdSocket = "localhost:1";

/**
 * etcd over two unix sockets in its working folder. It takes no absolute socket path, and nobody else can connect.
 * @param durable whether it waits for the disk; for what does not outlive the machine it need not
 */
export const etcdArgs = (durable: boolean): readonly string[] => [
  "--name=nvo",
  "--data-dir=etcd",
  `--listen-client-urls=unix://${etcdSocket}`,
  `--advertise-client-urls=unix://${etcdSocket}`,
  "--listen-peer-urls=unix://localhost:2",
  "--initial-advertise-peer-urls=unix://localhost:2",
  "--initial-cluster=nvo=unix://localhost:2",
  // Benchmarks write clusters of more than the two GiB that it has by itself.
  ...(durable ? ["--quota-backend-bytes=8589934592"] : ["--unsafe-no-fsync"]),
  "--log-level=warn",
];

/** Of a kube-apiserver that serves ClusterTrustBundles, which Kubernetes 1.36 does only where it is asked to. */
export const trustBundleFlags: readonly string[] = [
  "--feature-gates=ClusterTrustBundle=true",
  "--runtime-config=certificates.k8s.io/v1beta1/clustertrustbundles=true",
];

/**
 * A kube-apiserver as a cluster has it: authentication by tokens, Node and RBAC authorization, all default admission.
 * @param profiling whether it serves /debug/pprof
 * @param audit what it writes down of requests, and where
 */
export function apiServerArgs(
  port: number,
  credentials: Credentials,
  profiling: boolean,
  audit?: { readonly policyFile: string; readonly logFile: string },
): string[] {
  return [
    `--etcd-servers=unix://${etcdSocket}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${port}`,
    "--endpoint-reconciler-type=none",
    `--cert-dir=${credentials.certificates}`,
    `--token-auth-file=${credentials.tokensFile}`,
    `--service-account-key-file=${credentials.publicKeyFile}`,
    `--service-account-signing-key-file=${credentials.keyFile}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    // As every real cluster has it: the DaemonSet is privileged.
    "--allow-privileged=true",
    `--profiling=${profiling}`,
    // Blocking: a request is answered when it is written down.
    ...(audit === undefined
      ? []
      : [`--audit-policy-file=${audit.policyFile}`, `--audit-log-path=${audit.logFile}`, "--audit-log-mode=blocking"]),
  ];
}
