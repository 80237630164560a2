import { spawnSync } from "node:child_process";
import type { Case, Parts } from "./case.ts";

/** What a case is tested with: if it names nothing, the agent itself and the kernel. */
export function partsOf({ parts }: Case): Parts {
  return parts?.() ?? { client: "the agent" };
}

/** The first version that a program says, with its name. @throws Error if it says none */
export function versionOf(program: string, ...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  const said = /\d+(\.\d+)+[\w.-]*/.exec(`${stdout}\n${stderr}`)?.[0];
  if (said === undefined) throw new Error(`${program} ${args.join(" ")} says no version: ${stdout}${stderr}`);
  return `${program} ${said}`;
}
