// kubectl-nvi as archives: alone, for machines with a Node, and with the Node of a platform, for those without.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LocateOptions } from "../lib/tools/cache.ts";
import { type ArchiveFile, archiveOf } from "./archive.ts";
import { krewManifest, type PluginDownload } from "./krew.ts";
import { locateNode, type NodePlatform, nodePlatforms } from "./node-platforms.ts";

export interface PluginArchive extends Pick<PluginDownload, "files" | "platform"> {
  readonly name: string;
  readonly content: Buffer;
}

export interface PluginParts {
  readonly version: string;
  /** The bundle, a program of JavaScript that names its interpreter. */
  readonly program: Buffer;
  readonly licence: string;
}

/** krew links to it, so its own place is where the link leads. */
const launcher = `#!/bin/sh
# Starts the program that is next to it, by the Node.js that is next to it.
self=$(readlink -f "$0") || exit 3
exec "\${self%/*}/node" "\${self%/*}/kubectl-nvi.cjs" "$@"
`;

/**
 * Every archive of the plugin by its name, and krew's manifest of it if it is known where they will be published.
 * @param withNode for those with the Node of each platform, which the manifest then names
 * @throws Error if npm cannot fetch one of these
 */
export async function pluginFiles(
  parts: PluginParts,
  { baseURL, withNode }: { readonly baseURL: string | undefined; readonly withNode: LocateOptions | undefined },
): Promise<Map<string, string | Buffer>> {
  const alone = pluginAlone(parts);
  const complete: PluginArchive[] = [];
  if (withNode !== undefined)
    for (const platform of nodePlatforms) complete.push(await pluginWithNode(parts, platform, withNode));
  const files = new Map<string, string | Buffer>([alone, ...complete].map(({ name, content }) => [name, content]));
  if (baseURL === undefined) return files;
  const downloads = (withNode === undefined ? [alone] : complete).map(({ name, content, ...archive }) => ({
    ...archive,
    uri: `${baseURL}/${name}`,
    sha256: createHash("sha256").update(content).digest("hex"),
  }));
  return files.set("nvi.yaml", krewManifest(parts.version, downloads));
}

/** PURE. The plugin alone: the same for each platform. */
export function pluginAlone({ version, program, licence }: PluginParts): PluginArchive {
  return archived(`kubectl-nvi-${version}`, [
    ["kubectl-nvi", { content: program, executable: true }],
    ["LICENSE", { content: licence }],
  ]);
}

/** The plugin with the Node of a platform, which is in the cache afterwards. @throws Error if npm cannot fetch it */
export async function pluginWithNode(
  { version, program, licence }: PluginParts,
  platform: NodePlatform,
  options: LocateOptions,
): Promise<PluginArchive> {
  const folder = await locateNode(platform, options);
  const { os, arch } = platform;
  const archive = archived(`kubectl-nvi-${version}-${os}-${arch}`, [
    ["kubectl-nvi", { content: launcher, executable: true }],
    ["kubectl-nvi.cjs", { content: program }],
    ["node", { content: readFileSync(join(folder, "bin/node")), executable: true }],
    ["LICENSE", { content: licence }],
    ["LICENSE-node", { content: readFileSync(join(folder, "LICENSE")) }],
  ]);
  return { ...archive, platform: { os, arch } };
}

function archived(name: string, files: readonly (readonly [string, ArchiveFile])[]): PluginArchive {
  return { name: `${name}.tar.gz`, content: archiveOf(new Map(files)), files: files.map(([file]) => file) };
}
