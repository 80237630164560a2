import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { messageOf } from "../errors.ts";
import type { Logger } from "../ports.ts";
import { realSystem } from "../system.ts";
import { revision, version } from "../version.ts";
import { connect } from "./access.ts";
import { parseArguments } from "./arguments.ts";
import type { Cluster } from "./cluster.ts";
import type { Context, Terminal } from "./command.ts";
import { commandOf, commands } from "./commands.ts";
import { errorText } from "./error-text.ts";
import { CommandError, exitCode, UsageError } from "./exit-code.ts";
import { helpOf, overview } from "./help.ts";

/** Arguments of one run of the command line. */
export interface RunInput {
  readonly argv: readonly string[];
  readonly terminal: Terminal;
  readonly interrupted: AbortSignal;
}

/** Runs one command line, and resolves with the exit code. Never rejects; only with -v a stack trace is shown. */
export async function run({ argv, terminal, interrupted }: RunInput): Promise<number> {
  let verbose = argv.some((word) => word === "-v" || word === "--verbose");
  let cluster: Cluster | undefined;
  try {
    // What follows is somebody's unfinished command line, and none of ours.
    const isCompletion = argv[0] === "__complete";
    const { words, values } = isCompletion ? { words: argv, values: {} } : parseArguments(argv);
    verbose = values.verbose !== undefined;
    const [name, ...args] = words;
    if (name === undefined) {
      terminal.out(overview(commands));
      return values.help === undefined ? exitCode.usage : exitCode.done;
    }
    if (values.help !== undefined) {
      terminal.out(helpOf(commandOf(name, args, {})));
      return exitCode.done;
    }
    const command = commandOf(name, args, values);
    const system = realSystem(verbose ? noting(terminal) : silent);
    const context: Context = {
      terminal,
      system,
      interrupted,
      version,
      revision,
      async connect() {
        cluster ??= connect(values, system, version);
        return cluster;
      },
      kubectl: (words) => kubectl(words, interrupted),
      read: async (path) => readFileSync(path ?? 0),
      write: async (path, content) => writeFileSync(path, content, { flag: "wx", mode: 0o600 }),
    };
    return await command.run({ args, values, context });
  } catch (error) {
    if (interrupted.aborted) return exitCode.interrupted;
    terminal.note(`error: ${errorText(error, cluster?.server)}`);
    if (error instanceof UsageError) return exitCode.usage;
    if (verbose && error instanceof Error && error.stack !== undefined) terminal.note(error.stack);
    return exitCode.failed;
  } finally {
    cluster?.close();
  }
}

/** It does not outlive us: not Ctrl-C that only we get, nor another end of ours. */
function kubectl(args: readonly string[], interrupted: AbortSignal): Promise<number> {
  const child = spawn("kubectl", args, { stdio: ["ignore", "inherit", "inherit"] });
  const end = () => child.kill("SIGINT");
  interrupted.addEventListener("abort", end);
  process.once("exit", end);
  return new Promise<number>((resolve, reject) => {
    child.once("error", (error) => reject(new CommandError(`kubectl does not start: ${messageOf(error)}`)));
    child.once("exit", (code) => resolve(code ?? exitCode.failed));
  }).finally(() => {
    interrupted.removeEventListener("abort", end);
    process.off("exit", end);
  });
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

function noting(terminal: Terminal): Logger {
  const note = (message: string, meta?: object) =>
    terminal.note(`${message} ${meta === undefined ? "" : JSON.stringify(meta)}`);
  const logger: Logger = { debug() {}, info: note, warn: note, error: note, child: () => logger };
  return logger;
}
