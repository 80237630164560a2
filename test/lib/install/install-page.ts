import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../../hack/lib/root.ts";
import { blocksOf } from "../docs/blocks.ts";
import type { InstallWorld } from "./install-world.ts";

const run = promisify(execFile);

/**
 * The commands of a page for one purpose: of its blocks that are "not run" because "test/install does" it.
 * @throws Error if there are none
 */
export function commandsOf(page: string, purpose: string): string {
  const why = `test/install does, ${purpose}`;
  const blocks = blocksOf(page).filter(({ told }) => told.get("not run")?.[0]?.startsWith(why));
  if (blocks.length === 0) throw new Error(`${page} has no commands that test/install runs, ${purpose}`);
  return blocks.map(({ text }) => text).join("");
}

/**
 * Runs commands where an administrator's kubectl is.
 * @param overlay in place of config/default
 * @throws Error if one of them fails
 */
export async function typeAsAdmin(world: InstallWorld, commands: string, overlay: string): Promise<void> {
  const { program, kubeconfig } = world.admin;
  const own = { KUBECONFIG: kubeconfig, KUBECACHEDIR: join(world.directory, "kubectl-cache") };
  const env = { ...process.env, ...own, PATH: `${dirname(program)}:${process.env["PATH"]}` };
  await run("sh", ["-ec", commands.replaceAll("config/default", overlay)], { cwd: root, env });
}
