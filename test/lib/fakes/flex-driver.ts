import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../hack/lib/root.ts";
import type { RealNode } from "../kernel/real-node.ts";

/** A flexvolume driver on a node of a test. */
export interface FlexDriverOnNode {
  /** Its program. */
  readonly path: string;
  /** A file that it may attach as a disk. */
  readonly image: string;
  /** The commands that it was run with, without their arguments. */
  commands(): string[];
  /** The same with everything. */
  calls(): string[];
}

/**
 * Installs a driver of test/drivers/flex, as people do.
 * @param name `vendor/driver`, or `driver`
 * @param script what it is instead of that
 */
export function flexDriver(node: RealNode, name: string, script?: string): FlexDriverOnNode {
  const program = name.split("/").at(-1) ?? name;
  const directory = join(node.path, "vendors", name.replace("/", "~"));
  const path = join(directory, program);
  const image = join(node.path, "image");
  mkdirSync(directory, { recursive: true });
  if (script === undefined) copyFileSync(join(root, "test/drivers/flex", program), path);
  else writeFileSync(path, script);
  chmodSync(path, 0o755);
  node.keep({ [Symbol.dispose]: () => detach(image) });
  const calls = () => {
    const log = join(directory, "calls");
    return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
  };
  return { path, image, calls, commands: () => calls().map((call) => call.split(" ", 1)[0] ?? "") };
}

/** What a test that failed has left attached. */
function detach(image: string): void {
  if (!existsSync(image)) return;
  const attached = execFileSync("losetup", ["-j", image, "-O", "NAME", "-n"], { encoding: "utf8" });
  for (const device of attached.split("\n").filter((line) => line !== "")) execFileSync("losetup", ["-d", device]);
}
