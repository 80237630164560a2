// kubectl nvi as somebody has it who may only read: the bundle as a process, with a token that has the role nvi-viewer.
import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildCli } from "../../../hack/lib/bundle-cli.ts";
import { writeKubeconfig } from "../../../hack/lib/control-plane/credentials.ts";
import { root } from "../../../hack/lib/root.ts";
import type { TestCluster } from "../cluster/cluster.ts";

/**
 * Runs kubectl nvi.
 * @returns what it says on standard output
 * @throws Error with what it says else, if it ends with another code than 0
 */
export type Nvi = (...args: string[]) => Promise<string>;

export const reader = "nvi-reader";

export async function nviOf(cluster: TestCluster): Promise<Nvi> {
  const { path: program } = await buildCli();
  const { server, ca } = cluster.controlPlane;
  await cluster.adminKubectl.run(["apply", "-f", join(root, "config/components/nvi-viewer/role.yaml")]);
  const system = "nodevolume-system";
  await cluster.admin.call("POST", `/api/v1/namespaces/${system}/serviceaccounts`, {
    body: { metadata: { name: reader } },
  });
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const subjects = [{ kind: "ServiceAccount", name: reader, namespace: system }];
  const body = (kind: string) => ({
    metadata: { name: reader },
    subjects,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: "nvi-viewer" },
  });
  await cluster.admin.call("POST", `${rbac}/clusterrolebindings`, { body: body("ClusterRole") });
  await cluster.admin.call("POST", `${rbac}/namespaces/${system}/rolebindings`, { body: body("Role") });
  const kubeconfig = join(mkdtempSync(join(tmpdir(), "nvi-reader-")), "kubeconfig");
  writeKubeconfig(kubeconfig, { server, ca, user: reader, token: await cluster.token(reader) });
  const env = { PATH: process.env["PATH"], KUBECONFIG: kubeconfig };
  return (...args) =>
    new Promise((resolve, reject) => {
      const options = { env, timeout: 60_000, maxBuffer: 64 << 20 };
      execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`kubectl nvi ${args.join(" ")}: ${error.code}\n${stdout}\n${stderr}`));
      });
    });
}
