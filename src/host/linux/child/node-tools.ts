import { VolumeError } from "../../../errors.ts";
import type { ProgramHow, ProgramResult, Programs } from "../../ports/programs.ts";

/** Where the node's programs are looked for: never in a PATH that somebody has set. The last one is NixOS's. */
const folders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin", "/usr/local/sbin", "/run/current-system/sw/bin"];

/** Paths that a program of the node may have, the first that is there being it. */
export function pathsOfNode(program: string): string[] {
  return folders.map((folder) => `${folder}/${program}`);
}

/** Where the node has a program; undefined if it has none. */
export async function findOfNode(programs: Programs, program: string): Promise<string | undefined> {
  for (const path of pathsOfNode(program)) if ((await programs.identify(path)) !== undefined) return path;
  return undefined;
}

/**
 * Runs a program of the node, wherever its distribution has it.
 * @param debian the package that has it
 * @throws VolumeError ToolMissing, and what Programs.run rejects with
 */
export async function runOfNode(
  programs: Programs,
  program: string,
  args: readonly string[],
  how: ProgramHow,
  debian: string,
): Promise<ProgramResult> {
  const path = await findOfNode(programs, program);
  if (path !== undefined) return programs.run(path, args, how);
  throw new VolumeError("ToolMissing", "final", `${program} is not on the node: install it there (Debian: ${debian})`);
}

/** A path as the node's programs see it. @param hostRoot the node's root as the agent sees it */
export function onNode(path: string, hostRoot: string): string {
  return hostRoot !== "/" && path.startsWith(`${hostRoot}/`) ? path.slice(hostRoot.length) : path;
}
