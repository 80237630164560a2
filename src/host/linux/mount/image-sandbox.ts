import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { UnpackRequest } from "../../ports/images.ts";
import { openLayout } from "../image/layout-directory.ts";
import type { Libc } from "../syscall/libc.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";
import { enterSandbox, programs } from "./sandbox.ts";

/** Where the sandbox has the node's directories. */
const node = "/node";

/**
 * Leaves the node's file tree to unpack an image: from the next start of this program on, all of its threads see the
 * program itself, certificates, the image layout, and write to the one directory of the request. Of /proc there is this
 * process alone.
 * @returns the request, as it is carried out in the sandbox
 * @throws VolumeError SourceNotFound
 */
export function enterImageSandbox(libc: Libc, calls: SandboxCalls, request: UnpackRequest): UnpackRequest {
  const { directory, from } = request;
  const shown = ["/proc/self", ...programFiles(process.argv[1] ?? "")];
  if (!("layout" in from)) {
    enterSandbox(libc, calls, directory, { at: directory, shown });
    return request;
  }
  using layout = openLayout(libc, from.layout);
  const { path } = from.layout;
  enterSandbox(libc, calls, directory, { at: directory, shown, held: new Map([[`${node}${path}`, layout]]) });
  return { ...request, from: { ...from, layout: { root: node, path } } };
}

/** Node, this program, and what it loads: each once, and nothing of what each sandbox has. */
function programFiles(program: string): string[] {
  const above = foldersAbove(program);
  const own = above.find((folder) => existsSync(`${folder}/package.json`)) ?? dirname(program);
  const modules = above.map((folder) => `${folder}/node_modules`).find((folder) => existsSync(folder));
  const files = [process.execPath, own, ...(modules === undefined ? [] : [realpathSync(modules)])];
  const places = [...files, ...programs.map((name) => `/${name}`)];
  return files.filter((file) => !places.some((place) => file.startsWith(`${place}/`)));
}

/** The root directory is none of them: a sandbox does not show it. */
function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === "/" ? [] : [folder, ...foldersAbove(folder)];
}
