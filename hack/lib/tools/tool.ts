// The programs of others that quickstart and the tests run: pinned by hack/tools/*/go.mod.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { arch, homedir, platform } from "node:os";
import { join } from "node:path";
import { root } from "../root.ts";

export type ToolName = "etcd" | "kube-apiserver" | "kubectl";

export interface Tool {
  readonly name: ToolName;
  /** With its "v". */
  readonly version: string;
  /** Folder with the go.mod that pins it. */
  readonly directory: string;
  readonly goPackage: string;
  readonly ldflags: string;
  /** Folder of the finished program in our cache. Its name changes with anything that changes the program. */
  readonly cached: string;
}

/** `${XDG_CACHE_HOME:-~/.cache}/node-volume-operator` */
export function cacheDirectory(env: NodeJS.ProcessEnv): string {
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "node-volume-operator");
}

export function describeTool(name: ToolName, cache: string): Tool {
  const directory = join(root, "hack/tools", name === "etcd" ? "etcd" : "kubernetes");
  const version = pinned(directory, name === "etcd" ? "go.etcd.io/etcd/server/v3" : "k8s.io/kubernetes");
  const goPackage = {
    etcd: "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    kubectl: "./kubectl",
  }[name];
  const ldflags = name === "etcd" ? "-s -w" : `-s -w ${kubernetesVersion(version)}`;
  const hash = createHash("sha256").update(`${name} ${platform()} ${arch()} ${ldflags}\n`);
  for (const file of sources(directory)) hash.update(readFileSync(file));
  const cached = join(cache, `${name}-${version}-${hash.digest("hex").slice(0, 12)}`);
  return { name, version, directory, goPackage, ldflags, cached };
}

/** The path of the program of a tool in a folder that holds it. */
export function programIn(directory: string, tool: Tool): string {
  return join(directory, tool.name);
}

function pinned(directory: string, module: string): string {
  const text = readFileSync(join(directory, "go.mod"), "utf8");
  const version = text.split(/\s+/).at(text.split(/\s+/).indexOf(module) + 1);
  if (version === undefined || !/^v\d+\.\d+\.\d+$/.test(version))
    throw new Error(`${directory}/go.mod pins no ${module}`);
  return version;
}

function sources(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** What the release's own build writes into its programs; the API server decides by it which API versions exist. */
function kubernetesVersion(version: string): string {
  const [major, minor] = version.slice(1).split(".");
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  return Object.entries(values)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(" ");
}
