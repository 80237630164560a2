import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { eachLine } from "../lines.ts";
import { programIn, type Tool } from "./tool.ts";

interface BuildOptions {
  readonly out: string;
  /** Folder for Go's temporary files: they go with it if the build is killed. */
  readonly workshop: string;
  readonly env: NodeJS.ProcessEnv;
  readonly report: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** Milliseconds between two lines about a build that runs. */
const reportEvery = 10_000;

/**
 * Builds a program from the modules that its go.mod and go.sum pin. Minutes on two cores with a cold build cache.
 * @throws Error with the last lines of the build
 */
export async function buildTool(tool: Tool, options: BuildOptions): Promise<void> {
  const started = performance.now();
  const counts = { modules: 0, packages: 0 };
  const tail: string[] = [];
  const total = await countPackages(tool, options);
  const say = () => options.report(progress(tool, counts, total, performance.now() - started));
  options.report(`building ${tool.name} ${tool.version} from the Go module proxy (once; kept in the cache)`);
  const timer = setInterval(say, reportEvery);
  try {
    const args = ["build", "-v", "-mod=readonly", "-trimpath", "-tags", tool.tags, "-ldflags", tool.ldflags];
    await go(tool, [...args, "-o", programIn(options.out, tool), tool.goPackage], options, (line) => {
      if (line.startsWith("go: downloading")) counts.modules += 1;
      else if (/^[\w./-]+$/.test(line)) counts.packages += 1;
      else tail.push(line);
    });
  } catch (error) {
    options.signal?.throwIfAborted();
    const lines = tail.slice(-15).join("\n  ");
    throw new Error(`building ${tool.name} failed: ${(error as Error).message}\n  ${lines}`);
  } finally {
    clearInterval(timer);
  }
  options.report(`built ${tool.name} ${tool.version} in ${duration(performance.now() - started)}`);
}

/** How many packages the program has; undefined if Go cannot say, which the build itself will then explain. */
async function countPackages(tool: Tool, options: BuildOptions): Promise<number | undefined> {
  let packages = 0;
  let modules = 0;
  options.report(`fetching the modules of ${tool.name} ${tool.version}`);
  const timer = setInterval(() => options.report(`  ${modules} modules fetched`), reportEvery);
  try {
    await go(tool, ["list", "-mod=readonly", "-tags", tool.tags, "-deps", tool.goPackage], options, (line) => {
      if (line.startsWith("go: downloading")) modules += 1;
      else if (!line.startsWith("go: ")) packages += 1;
    });
    return packages;
  } catch {
    options.signal?.throwIfAborted();
    return undefined;
  } finally {
    clearInterval(timer);
  }
}

function go(tool: Tool, args: string[], options: BuildOptions, onLine: (line: string) => void): Promise<void> {
  const temporary = join(options.workshop, "go");
  mkdirSync(temporary, { recursive: true });
  const child = spawn("nice", ["-n", "5", "go", ...args], {
    cwd: tool.directory,
    env: {
      ...options.env,
      CGO_ENABLED: tool.cgo ? "1" : "0",
      GOFLAGS: "-buildvcs=false",
      GOTMPDIR: temporary,
      GOWORK: "off",
    },
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  eachLine(child.stdout, onLine);
  eachLine(child.stderr, onLine);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else if (code === 127)
        reject(
          new Error(
            "Go is not installed; install Go 1.26, or point KUBEBUILDER_ASSETS at a folder with etcd, kube-apiserver and kubectl",
          ),
        );
      else reject(new Error(`go ${args[0]} exited with ${code}`));
    });
  });
}

function progress(tool: Tool, counts: { modules: number; packages: number }, total: number | undefined, ms: number) {
  const of = total === undefined ? "" : ` of at most ${total}`;
  return `  ${tool.name}: ${counts.packages}${of} packages compiled, ${duration(ms)}`;
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
