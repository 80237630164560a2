import { rmSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build, stop } from "esbuild";
import { root } from "../../lib/root.ts";

/**
 * Bundles the benchmark's process as the agent is bundled, so that it takes as much memory. It goes with this process.
 * @param other options of esbuild, for an agent that differs from that of src, and a name for it
 * @returns its path
 */
export async function bundleBenchmark(
  other: Pick<BuildOptions, "plugins" | "define"> = {},
  name = "bench-in-agent",
): Promise<string> {
  const outfile = join(root, "dist", `${name}.${process.pid}.cjs`);
  const map = `${outfile}.map`;
  await build({
    entryPoints: [join(root, "hack/bench/in-agent/process.ts")],
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    sourcemap: "external", // for a profile; nothing else reads it
    external: ["koffi"],
    logLevel: "warning",
    ...other,
  });
  await stop();
  process.once("exit", () => {
    for (const file of [outfile, map]) rmSync(file, { force: true });
  });
  return outfile;
}
