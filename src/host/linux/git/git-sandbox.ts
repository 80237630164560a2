import { chmodSync, chownSync, mkdirSync } from "node:fs";
import type { CheckOutRequest } from "../../ports/repositories.ts";
import { sandboxUID } from "../child/confined.ts";
import { programFiles } from "../mount/program-files.ts";
import { enterSandbox } from "../mount/sandbox.ts";
import type { Libc } from "../syscall/libc.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";
import { secretFiles } from "./access.ts";
import { gitDirectory } from "./commands.ts";

/**
 * Leaves the node's file tree to check out a commit: from the next start of this program on, all of its threads see the
 * program itself, certificates, what git is shown of the access, and write to the one directory of the request. Of that
 * git reaches `repository`, which it has as `gitDirectory`. There is no /proc.
 */
export function enterGitSandbox(libc: Libc, calls: SandboxCalls, { directory, access }: CheckOutRequest): void {
  const repository = `${directory}/repository`;
  mkdirSync(repository);
  chownSync(repository, sandboxUID, sandboxUID);
  chmodSync(repository, 0o711); // who starts git there needs no right to override modes
  enterSandbox(libc, calls, directory, {
    written: new Map([
      [directory, directory],
      [gitDirectory, repository],
    ]),
    files: secretFiles(access),
    owner: sandboxUID,
    shown: programFiles(process.argv[1] ?? ""),
  });
}
