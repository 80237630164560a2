// A real API server with what a cluster may look like on a bad day, and kubectl nvi as people have it: the bundle,
// found by kubectl in PATH, with the token of somebody who may only read. No controller, agent or driver runs: their
// words are written in their place.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildCli } from "../../../hack/lib/bundle-cli.ts";
import { writeKubeconfig } from "../../../hack/lib/control-plane/credentials.ts";
import { root } from "../../../hack/lib/root.ts";
import type { TestCluster } from "../cluster/cluster.ts";
import { fillCluster } from "./cli-cluster.ts";

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliWorld {
  /**
   * A command line as a shell takes it, with kubectl and kubectl-nvi in PATH.
   * @param user whose kubeconfig: of the reader if not given
   */
  sh(line: string, user?: "reader" | "tenant" | "admin" | "nobody"): Promise<CliResult>;
  /** Where it runs; a file `fstab` is there. */
  readonly directory: string;
}

/** The fstab of the documentation. */
const fstab = `UUID=0f3a-77c1 /              ext4  errors=remount-ro  0 1
LABEL=scratch  /mnt/scratch   xfs   defaults,noatime   0 2
nas:/datasets  /mnt/datasets  nfs4  ro,hard,_netdev    0 0
//win/share    /mnt/share     cifs  credentials=/c     0 0
`;

export async function cliWorld(cluster: TestCluster): Promise<CliWorld> {
  const { path: bundle } = await buildCli();
  const directory = mkdtempSync(join(tmpdir(), "kubectl-nvi-"));
  const bin = join(directory, "bin");
  mkdirSync(bin);
  symlinkSync(bundle, join(bin, "kubectl-nvi"));
  symlinkSync(cluster.controlPlane.kubectl, join(bin, "kubectl"));
  writeFileSync(join(directory, "fstab"), fstab);
  const { server, ca } = cluster.controlPlane;
  for (const component of ["nvi-viewer", "support-bundle"])
    await cluster.adminKubectl.run(["apply", "-f", join(root, `config/components/${component}/role.yaml`)]);
  const accounts = "/api/v1/namespaces/nodevolume-system/serviceaccounts";
  for (const user of ["reader", "tenant"])
    await cluster.admin.call("POST", accounts, { body: { metadata: { name: user } } });
  await bind(cluster);
  const tokens = {
    reader: await cluster.token("reader"),
    tenant: await cluster.token("tenant"),
    admin: cluster.controlPlane.credentials.peopleToken,
    nobody: "no-token-of-anybody",
  };
  for (const [user, token] of Object.entries(tokens))
    writeKubeconfig(join(directory, user), { server, ca, user, token });
  await fillCluster(cluster.admin);
  const sh: CliWorld["sh"] = (line, user = "reader") =>
    new Promise((resolve) => {
      const env = { PATH: `${bin}:${process.env["PATH"]}`, KUBECONFIG: join(directory, user), HOME: directory };
      execFile("sh", ["-c", line], { cwd: directory, env, timeout: 60_000 }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 255;
        resolve({ code, stdout, stderr });
      });
    });
  return { sh, directory };
}

/**
 * The reader has the roles of both components; the tenant may look at the pods and claims of one namespace, and no
 * more.
 */
async function bind({ admin }: TestCluster): Promise<void> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const subject = (name: string) => [{ kind: "ServiceAccount", name, namespace: "nodevolume-system" }];
  const ref = (kind: string, name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
  const shop = `${rbac}/namespaces/shop`;
  const system = `${rbac}/namespaces/nodevolume-system`;
  await admin.call("POST", "/api/v1/namespaces", { body: { metadata: { name: "shop" } } });
  const viewer = { metadata: { name: "nvi-viewer" }, subjects: subject("reader") };
  await admin.call("POST", `${rbac}/clusterrolebindings`, {
    body: { ...viewer, roleRef: ref("ClusterRole", "nvi-viewer") },
  });
  await admin.call("POST", `${system}/rolebindings`, { body: { ...viewer, roleRef: ref("Role", "nvi-viewer") } });
  const support = {
    metadata: { name: "nvi-support" },
    subjects: subject("reader"),
    roleRef: ref("Role", "nvi-support"),
  };
  await admin.call("POST", `${system}/rolebindings`, { body: support });
  const rules = [{ apiGroups: [""], resources: ["pods", "persistentvolumeclaims"], verbs: ["get", "list"] }];
  await admin.call("POST", `${shop}/roles`, { body: { metadata: { name: "tenant" }, rules } });
  const tenant = { metadata: { name: "tenant" }, subjects: subject("tenant"), roleRef: ref("Role", "tenant") };
  await admin.call("POST", `${shop}/rolebindings`, { body: tenant });
}
