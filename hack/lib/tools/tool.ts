import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { arch, homedir, platform } from "node:os";
import { join } from "node:path";
import { root } from "../root.ts";
import { type Origin, origins, type ToolName } from "./catalog.ts";

export interface Tool {
  readonly name: ToolName;
  /** With its "v"; "own" of a program of ours. */
  readonly version: string;
  /** Folder with the go.mod that pins it. */
  readonly directory: string;
  readonly goPackage: string;
  readonly ldflags: string;
  readonly tags: string;
  readonly cgo: boolean;
  /** Folder of the finished program in our cache. Its name changes with anything that changes the program. */
  readonly cached: string;
}

/** `${XDG_CACHE_HOME:-~/.cache}/node-volume-operator` */
export function cacheDirectory(env: NodeJS.ProcessEnv): string {
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "node-volume-operator");
}

export function describeTool(name: ToolName, cache: string): Tool {
  const origin = origins[name];
  const directory = join(root, "hack/tools", origin.folder);
  const { module, tags = "", cgo = false } = origin;
  const version = module === undefined ? "own" : pinned(directory, module);
  const ldflags = ["-s -w", ...versionFlags(origin, version)].join(" ");
  const hash = createHash("sha256").update(`${name} ${platform()} ${arch()} ${ldflags}${tags}\n`);
  for (const file of sources(directory)) hash.update(readFileSync(file));
  const cached = join(cache, `${name}-${version}-${hash.digest("hex").slice(0, 12)}`);
  return { name, version, directory, goPackage: origin.goPackage, ldflags, tags, cgo, cached };
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

/** What the project's own build writes into its programs. */
function versionFlags({ module, versionIn }: Origin, version: string): string[] {
  if (module === "k8s.io/kubernetes") return [kubernetesVersion(version)];
  return versionIn === undefined ? [] : [`-X ${versionIn}=${version}`];
}

/** The API server decides by it which API versions exist. */
function kubernetesVersion(version: string): string {
  const [major, minor] = version.slice(1).split(".");
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  return Object.entries(values)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(" ");
}
