import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StepError } from "./process.ts";

interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Kubectl {
  readonly program: string;
  readonly kubeconfig: string;
  /** Runs it and gives back what came, whatever the exit code. */
  try(args: readonly string[], input?: string): Promise<KubectlResult>;
  /** Runs it and gives back stdout. @throws StepError if the exit code is not 0 */
  run(args: readonly string[], input?: string): Promise<string>;
}

/** A user's kubectl: the program, and the kubeconfig that says who one is. */
export function createKubectl(program: string, kubeconfig: string): Kubectl {
  const attempt = (args: readonly string[], input?: string) => execute(program, kubeconfig, args, input);
  return {
    program,
    kubeconfig,
    try: attempt,
    async run(args, input) {
      const result = await attempt(args, input);
      if (result.code === 0) return result.stdout;
      throw new StepError(`kubectl ${args.join(" ")} failed`, {
        details: result.stderr.trimEnd().split("\n"),
        remedy: "the message above is the API server's: it names the object and what is wrong with it",
      });
    },
  };
}

function execute(program: string, kubeconfig: string, args: readonly string[], input?: string): Promise<KubectlResult> {
  return new Promise((resolve, reject) => {
    // What it caches would otherwise land in the home directory and outlive us.
    const own = ["--kubeconfig", kubeconfig, "--cache-dir", join(tmpdir(), "nodevolume-kubectl")];
    const child = spawn(program, [...own, ...args], { stdio: ["pipe", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
    });
    child.stdin.on("error", () => undefined); // it ended before it read everything: its exit code says why
    child.on("error", reject).on("close", (code) => resolve({ code: code ?? 1, stdout, stderr }));
    child.stdin.end(input ?? "");
  });
}
