import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, type Plugin, stop } from "esbuild";
import { buildBundles } from "../bundle.ts";
import { nodeOptions } from "../image.ts";
import { root } from "../root.ts";

const here = "hack/lib/agent-on-kernel";
const common = { bundle: true, platform: "node", target: "node24", logLevel: "warning" } as const;

/** In the environment of every lane that touches the kernel: how children are started (buildChild), as JSON. */
export const childVariable = "NODEVOLUME_CHILD";

/**
 * Bundles the program that is shipped, with the role `child` alone, into a directory beneath which koffi can be found.
 * It starts in a tenth of the time that its sources take.
 * @returns the arguments of Node that start a child, as the agent of an image has them
 */
export async function buildChild(outdir: string, plugins: readonly Plugin[] = []): Promise<readonly string[]> {
  await buildBundles({ outdir, only: ["child"], plugins });
  return childArguments(join(outdir, "main.cjs"));
}

/** @param main the program that is shipped, as a bundle or as its source */
export function childArguments(main: string): readonly string[] {
  return [...nodeOptions(), main, "child"];
}

/** Programs that tests and benchmarks start: files, but for children. */
export interface Programs {
  readonly agent: string;
  /** Arguments of Node. */
  readonly child: readonly string[];
  readonly fuse: string;
}

/**
 * Bundles what is started beside a real agent, and that itself: from source each of its children would take longer to
 * start than an operation may take. They are gone with this process; if it is killed, with the sandbox, whose own the
 * directory is.
 * @param more other entry points, by name, as paths from the root of the repository
 */
export async function buildPrograms<More extends string = never>(
  more?: Readonly<Record<More, string>>,
): Promise<Programs & Readonly<Record<More, string>>> {
  const outdir = mkdtempSync(join(tmpdir(), "nvo-programs-"));
  process.once("exit", () => rmSync(outdir, { recursive: true }));
  symlinkSync(join(root, "node_modules"), join(outdir, "node_modules")); // where they find what is not bundled
  const entries = {
    agent: `${here}/agent-main.ts`,
    fuse: `${here}/fuse/server-main.ts`,
    ...more,
  };
  await build({
    ...common,
    outdir,
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(root, path)])),
    outExtension: { ".js": ".mjs" },
    format: "esm",
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
    external: ["koffi", "esbuild"],
  });
  const { [childVariable]: built } = process.env;
  const child = built === undefined ? await buildChild(outdir) : (JSON.parse(built) as readonly string[]);
  await stop();
  const paths = Object.keys(entries).map((name) => [name, join(outdir, `${name}.mjs`)]);
  return { child, ...Object.fromEntries(paths) } as Programs & Record<More, string>;
}
