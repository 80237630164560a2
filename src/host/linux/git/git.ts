import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { CheckOutRequest } from "../../ports/repositories.ts";
import { confined, confiners } from "../child/confined.ts";
import { findProgram } from "../child/find-program.ts";
import { secretsIn } from "./access.ts";
import { environment, fetchLimitMs, gitArguments, gitDirectory } from "./commands.ts";
import { gitError } from "./git-errors.ts";
import { RedactedLines } from "./redacted-lines.ts";

/** Of what git writes to its standard error, as much is kept. */
const textLimit = 16 * 1024;
/** A fetch of a hundred thousand files takes 60 MB; the agent's pod has 512. */
const memoryBytes = 256 * 1024 * 1024;

/** A git command that runs. */
export interface RunningGit {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves once it has ended well. @throws VolumeError what went wrong */
  readonly ended: Promise<void>;
}

/** How git(1) is run. */
export interface GitOptions {
  /** Told of each line of its progress. */
  readonly onLine?: (line: string) => void;
  readonly env?: { readonly [name: string]: string };
  /** Whether it speaks with the server. */
  readonly network?: true;
}

/** Runs git in the sandbox that this process is in, confined (commands.ts), one command after another. */
export class Git {
  readonly #request: CheckOutRequest;
  readonly #programs: ReadonlyMap<string, string>;

  /** @throws VolumeError ToolMissing, final */
  constructor(request: CheckOutRequest) {
    this.#request = request;
    this.#programs = new Map(["git", ...confiners].map((name) => [name, findProgram(name)]));
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], options: GitOptions = {}): Promise<void> {
    const git = this.start(args, options);
    git.stdin.end();
    git.stdout.resume();
    await git.ended;
  }

  start(args: readonly string[], { onLine = () => {}, env = environment, network }: GitOptions = {}): RunningGit {
    const limits = { memoryBytes, fileBytes: this.#request.sizeLimit, network: network === true };
    const path = (program: string) => this.#programs.get(program) ?? program;
    const [file = "", ...rest] = confined(path, limits, [path("git"), ...gitArguments(args)]);
    const child = spawn(file, rest, {
      cwd: gitDirectory,
      env,
      stdio: ["pipe", "pipe", "pipe"],
      timeout: fetchLimitMs,
      killSignal: "SIGKILL",
    });
    child.stdin.on("error", () => {}); // it has ended before it was told all: `ended` says why
    const ended = this.#endOf(child, onLine);
    ended.catch(() => {}); // whoever reads its output may fail first
    return { stdin: child.stdin, stdout: child.stdout, ended };
  }

  #endOf(child: ChildProcessByStdio<Writable, Readable, Readable>, onLine: (line: string) => void): Promise<void> {
    let text = "";
    const said = new RedactedLines(secretsIn(this.#request.access));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = said.push(chunk);
      text = [text, ...lines].join("\n").slice(-textLimit);
      try {
        for (const line of lines) onLine(line);
      } catch (error) {
        child.kill("SIGKILL");
        reject(error);
      }
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      text = [text, ...said.rest()].join("\n");
      if (code === 0) resolve();
      else reject(gitError(this.#request, { code, signal, text }));
    });
    return promise;
  }
}
