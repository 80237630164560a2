import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunningProcess } from "../../lib/process.ts";
import { startController } from "../../lib/roles.ts";
import { type LoopSecond, readLoop } from "./loop.ts";

export interface ControllerOptions {
  /** For its log and what it is given. */
  readonly directory: string;
  readonly name: string;
  readonly server: string;
  readonly ca: string;
  readonly token: string;
  readonly heap: number | undefined;
  readonly profile: string | undefined;
  /** Further ones. */
  readonly flags?: readonly string[];
}

/** A controller under measurement: the production bundle, with the flags of the image. */
export interface MeasuredController {
  readonly process: RunningProcess;
  /** Milliseconds since the epoch when the process was started. */
  readonly begunAt: number;
  /**
   * Milliseconds from the start of the process to the first line of its log that has this message; undefined if there
   * is none.
   */
  said(message: string): number | undefined;
  /** What its event loop did, second by second. */
  loop(): LoopSecond[];
  /** How often its log says this. */
  times(message: string): number;
  /** The last lines that are warnings or errors. */
  troubles(): string[];
}

export function startMeasured(options: ControllerOptions): MeasuredController {
  const { directory, name, heap, profile } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const [caFile, tokenFile, logFile] = ["ca.crt", "token", `${name}.log`].map((file) => join(directory, file));
  writeFileSync(caFile ?? "", options.ca);
  writeFileSync(tokenFile ?? "", options.token, { mode: 0o600 });
  const identity = { caFile: caFile ?? "", tokenFile: tokenFile ?? "" };
  const loopFile = join(directory, `${name}.loop`);
  const flags = [
    `--import=${join(import.meta.dirname, "watch-loop.ts")}`,
    ...(profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]),
    ...(heap === undefined ? [] : [`--max-old-space-size=${heap}`]),
  ];
  const begunAt = Date.now();
  const process_ = startController(name, {
    server: options.server,
    identity,
    logFile: logFile ?? "",
    ...(options.flags && { flags: options.flags }),
    env: { ...process.env, NODE_OPTIONS: flags.join(" "), NODEVOLUME_BENCH_LOOP: loopFile },
  });
  const lines = () => (existsSync(process_.logFile) ? readFileSync(process_.logFile, "utf8").split("\n") : []);
  return {
    process: process_,
    begunAt,
    said(message) {
      const line = lines().find((one) => one.includes(`"${message}"`));
      const { timestamp } = (line === undefined ? {} : JSON.parse(line)) as { timestamp?: string };
      return timestamp === undefined ? undefined : Date.parse(timestamp) - begunAt;
    },
    loop: () => readLoop(loopFile),
    times: (message) => lines().filter((one) => one.includes(`"${message}"`)).length,
    troubles: () =>
      lines()
        .filter((line) => /"level":"(?:warn|error)"/.test(line))
        .slice(-10),
  };
}
