// Who follows the documentation: somebody with kubectl, the plugin and the rights that the pages name, and root on the
// nodes.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildCli } from "../../../hack/lib/bundle-cli.ts";
import { writeKubeconfig } from "../../../hack/lib/control-plane/credentials.ts";
import { root } from "../../../hack/lib/root.ts";
import { testWorld, type World } from "../cluster/world.ts";
import { rightsOfReaders } from "./rights.ts";

export interface DocsWorld {
  readonly world: World;
  /**
   * A command line as a shell takes it, where the files of a page are.
   * @param where `$`, or a node on which root types
   */
  sh(page: ReaderPlace, where: string, line: string): Promise<Answer>;
  /** An empty directory for a page, with the repository's config/ in it. */
  place(): ReaderPlace;
}

export type ReaderPlace = string & { readonly __brand: "ReaderPlace" };

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let shared: Promise<DocsWorld> | undefined;

export async function docsWorld(context: Mocha.Context): Promise<DocsWorld> {
  const world = await testWorld(context);
  shared ??= start(world);
  return shared;
}

async function start(world: World): Promise<DocsWorld> {
  const { cluster } = world;
  const bin = mkdtempSync(join(tmpdir(), "nodevolume-docs-bin-"));
  symlinkSync((await buildCli()).path, join(bin, "kubectl-nvi"));
  symlinkSync(cluster.controlPlane.kubectl, join(bin, "kubectl"));
  const account = {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "reader", namespace: "nodevolume-system" },
  };
  await cluster.adminKubectl.run(["apply", "-f", join(root, "config/components/nvi-viewer/role.yaml")]);
  const items = [account, ...rightsOfReaders];
  await cluster.adminKubectl.run(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  const kubeconfig = join(bin, "kubeconfig");
  const { server, ca } = cluster.controlPlane;
  writeKubeconfig(kubeconfig, { server, ca, user: "reader", token: await cluster.token("reader") });
  return {
    world,
    place() {
      const directory = mkdtempSync(join(tmpdir(), "nodevolume-docs-"));
      symlinkSync(join(root, "config"), join(directory, "config"));
      mkdirSync(join(directory, "home"));
      return directory as ReaderPlace;
    },
    sh: (place, where, line) =>
      new Promise((resolve) => {
        const env = {
          PATH: `${bin}:${process.env["PATH"]}`,
          HOME: join(place, "home"),
          ...(where === "$" && { KUBECONFIG: kubeconfig }),
        };
        const node = world.nodes.find(({ name }) => name === where);
        if (where !== "$" && node === undefined) throw new Error(`there is no node ${where}`);
        const [program, ...args] =
          node === undefined
            ? ["sh"]
            : ["nsenter", `--mount=/proc/${node.host.pid}/ns/mnt`, `--wd=${place}`, "--", "sh"];
        execFile(program, [...args, "-ec", line], { cwd: place, env, timeout: 90_000 }, (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : 255;
          const end = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);
          resolve({ code, stdout: end(stdout), stderr: end(stderr) });
        });
      }),
  };
}

/** Writes a file of a page. */
export function writeIn(place: ReaderPlace, name: string, text: string): void {
  writeFileSync(join(place, name), text);
}
