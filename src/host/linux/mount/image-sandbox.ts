import type { UnpackRequest } from "../../ports/images.ts";
import { openLayout } from "../image/layout-directory.ts";
import type { Libc } from "../syscall/libc.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";
import { programFiles } from "./program-files.ts";
import { enterSandbox } from "./sandbox.ts";

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
  const written = new Map([[directory, directory]]);
  const shown = ["/proc/self", ...programFiles(process.argv[1] ?? "")];
  if (!("layout" in from)) {
    enterSandbox(libc, calls, directory, { written, shown });
    return request;
  }
  using layout = openLayout(libc, from.layout);
  const { path } = from.layout;
  enterSandbox(libc, calls, directory, { written, shown, held: new Map([[`${node}${path}`, layout]]) });
  return { ...request, from: { ...from, layout: { root: node, path } } };
}
