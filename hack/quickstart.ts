// The demonstration: npm run quickstart. See hack/quickstart/options.ts for what it takes.

import { insideSandbox, openSandbox } from "./lib/sandbox/inside.ts";
import { keptFolders } from "./lib/sandbox/kept.ts";
import { newRunId, runInSandbox, runVariable } from "./lib/sandbox/outside.ts";
import { filesOf } from "./quickstart/kubeconfig-files.ts";
import { parseOptions, type QuickstartOptions, UsageError, usage } from "./quickstart/options.ts";
import { quickstart } from "./quickstart/run.ts";
import { createScreen, describeFailure } from "./quickstart/screen.ts";

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const options = read(args);
  if (typeof options === "number") return options;
  if (insideSandbox()) return demonstrate(options);
  if (process.getuid?.() !== 0) {
    console.error("quickstart mounts, so it needs root: sudo npm run quickstart (nothing is left behind when it ends)");
    return 1;
  }
  // A test gives its own id, by which it finds whatever is left.
  const id = process.env[runVariable] ?? newRunId();
  return runInSandbox({ script: import.meta.filename, args, id });
}

function read(args: readonly string[]): QuickstartOptions | number {
  try {
    const options = parseOptions(args);
    if (options !== "help") return options;
    process.stdout.write(usage);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}`);
    return 2;
  }
}

async function demonstrate(options: QuickstartOptions): Promise<number> {
  const sandbox = openSandbox([...keptFolders(process.env), ...filesOf(options.existing?.kubeconfig)]);
  const screen = createScreen(process.stdout);
  // Whatever still runs or is open ends with the sandbox, which ends with this process.
  sandbox.stopped.addEventListener("abort", () => setTimeout(() => process.exit(130), 90_000).unref());
  try {
    await quickstart(options, sandbox, screen);
    process.exit(0);
  } catch (error) {
    if (sandbox.stopped.aborted) process.exit(130);
    process.stdout.write(describeFailure(error));
    process.exit(1);
  }
}
