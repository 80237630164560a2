import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { pidOf } from "./pid-of.ts";

export interface ProcessOptions {
  /** For messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Where stdout and stderr go, appended. */
  readonly logFile: string;
}

export interface RunningProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /**
   * Resolves, and never rejects, with how it ended: "exited with 1", "was killed by SIGKILL", "could not be started:
   * …".
   */
  readonly ended: Promise<string>;
  /** What `ended` says, once it has ended. */
  ending(): string | undefined;
  kill(signal: NodeJS.Signals): void;
  /** SIGTERM, and SIGKILL if it has not ended `graceMs` later. */
  stop(graceMs?: number): Promise<void>;
}

export function startProcess(options: ProcessOptions): RunningProcess {
  const log = openSync(options.logFile, "a");
  const child = spawn(options.command, options.args, {
    stdio: ["ignore", log, log],
    // A session of its own: Ctrl-C is for the demonstration, which may still need this to clean up.
    detached: true,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  closeSync(log);
  let how: string | undefined;
  const ended = new Promise<string>((resolve) => {
    child.on("error", (error) => resolve(`could not be started: ${error.message}`));
    child.on("exit", (code, signal) => resolve(signal === null ? `exited with ${code}` : `was killed by ${signal}`));
  }).then((text) => {
    how = text;
    return text;
  });
  return {
    name: options.name,
    get pid() {
      return pidOf(child);
    },
    logFile: options.logFile,
    ended,
    ending: () => how,
    kill: (signal) => void child.kill(signal),
    async stop(graceMs = 10_000) {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** The last lines of a log, cut to a readable width. */
export function tailOf(logFile: string, lines = 15): string[] {
  if (!existsSync(logFile)) return [];
  const all = readFileSync(logFile, "utf8").trimEnd().split("\n");
  return all.slice(-lines).map((line) => (line.length > 400 ? `${line.slice(0, 400)}…` : line));
}

/** A part of the demonstration failed: what, the end of its log, and what to do. */
export class StepError extends Error {
  override readonly name = "StepError";
  readonly details: readonly string[];
  readonly remedy: string;

  constructor(message: string, options: { logFile?: string; details?: readonly string[]; remedy: string }) {
    super(message);
    this.details = options.details ?? (options.logFile === undefined ? [] : tailOf(options.logFile));
    this.remedy = options.remedy;
  }
}
