import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { buildBundles } from "../../lib/bundle.ts";
import { imageEnvironment, nodeOptions } from "../../lib/image.ts";
import { root } from "../../lib/root.ts";
import { bundleBenchmark } from "./bundle.ts";
import type { Kind, PodsOf } from "./intents.ts";
import type { RunName } from "./process.ts";
import type { Profiled } from "./profile-run.ts";
import type { Measured } from "./runs.ts";

/** What one scenario measured, in milliseconds but for what a name says otherwise. */
export type Row = { readonly scenario: string } & { readonly [figure: string]: number | string };

export interface Options {
  /** Where the journal is made, on the disk that it is to be synced to: /var/lib if not given, as in production. */
  readonly directory?: string;
  /** Options of the process, as for a profile; those of production if not given. */
  readonly nodeOptions?: readonly string[];
}

/**
 * All pods at once; intervalMs: one after the other. Each from its intents' events to the status write of its last
 * volume.
 */
export function mount(
  of: {
    readonly pods: number;
    readonly volumes: number;
    readonly kind: Kind;
    readonly intervalMs?: number;
    readonly rounds?: number;
  },
  options: Options = {},
): Promise<Row> {
  const { pods, volumes, kind, intervalMs = 0, rounds = 5 } = of;
  const rhythm = intervalMs > 0 ? ` every ${intervalMs} ms` : "";
  return measure(`mount ${pods} × ${kind}:${volumes}${rhythm}`, "mount", { ...of, intervalMs, rounds }, options);
}

/** Unmounted behind the agent's back, one after the other: until it is in the table again. */
export function drift(of: { readonly volumes: number; readonly kind: Kind }, options: Options = {}): Promise<Row> {
  return measure(`drift ${of.volumes} × ${of.kind}`, "drift", { pods: of.volumes, volumes: 1, kind: of.kind }, options);
}

/** Sources missing for faultMs: from when they are made until their volumes are mounted. */
export function retry(of: { readonly volumes: number; readonly faultMs: number }, options: Options = {}): Promise<Row> {
  const { volumes, faultMs } = of;
  return measure(
    `retry after ${faultMs / 1000} s`,
    "retry",
    { pods: volumes, volumes: 1, kind: "local", faultMs },
    options,
  );
}

/** A fresh process on what is mounted: until its plan shows all of it. */
export function restart(
  of: { readonly pods: number; readonly volumes: number; readonly kind: Kind },
  options: Options = {},
): Promise<Row> {
  return measure(`restart ${of.pods} × ${of.kind}:${of.volumes}`, "restart", of, options);
}

/** Processor time and memory with everything mounted and nothing to do. */
export function idle(
  of: { readonly volumes: number; readonly kind: Kind; readonly seconds: number },
  options: Options = {},
): Promise<Row> {
  const { volumes, kind, seconds } = of;
  return measure(`idle ${volumes} × ${kind}`, "idle", { pods: volumes, volumes: 1, kind, seconds }, options);
}

/** All pods at once, and where the time goes: what is counted is the same on a busy machine. */
export async function profile(of: PodsOf, options: Options = {}): Promise<Profiled> {
  return (await run("profile", of, options)) as Profiled;
}

/** Of their own: mounts, and processes, which a release looks through for others that have the volume mounted. */
const namespaces = ["--mount", "--propagation", "private", "--pid", "--fork", "--mount-proc", "--kill-child=KILL"];

async function measure(scenario: string, name: RunName, of: object, options: Options): Promise<Row> {
  return { scenario, ...((await run(name, of, options)) as Measured) };
}

async function run(name: RunName, of: object, options: Options): Promise<unknown> {
  return runIn(await bundled(), name, of, options);
}

/** Runs one bundle of the benchmark's process, in namespaces and a folder of its own. */
export async function runIn(program: string, name: RunName, of: object, options: Options = {}): Promise<unknown> {
  const path = mkdtempSync(join(options.directory ?? "/var/lib", "nvo-bench-"));
  try {
    const command = [
      process.execPath,
      ...(options.nodeOptions ?? nodeOptions()),
      program,
      JSON.stringify({ run: name, path, of }),
    ];
    return JSON.parse(await output("unshare", [...namespaces, ...command])) as unknown;
  } finally {
    rmSync(path, { recursive: true });
  }
}

async function output(command: string, args: readonly string[]): Promise<string> {
  const env = imageEnvironment(process.env);
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], cwd: dirname(root), env });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const printed = await text(child.stdout);
  const code = await ended;
  if (code !== 0) throw new Error(`the benchmark ended with ${code}: ${args.at(-1)}`);
  return printed;
}

let built: Promise<string> | undefined;

/** The bundles of this source, made once a process: the agent's own children are of them, too. */
function bundled(): Promise<string> {
  built ??= buildBundles().then(() => bundleBenchmark());
  return built;
}
