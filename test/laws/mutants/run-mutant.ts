import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../hack/lib/root.ts";
import type { Mutant } from "./mutant.ts";

const usualRuns = 1500;
const deadlineMs = 60_000;

export interface Outcome {
  /** Tests of the law that passed. */
  readonly passed: number;
  /** Why a test failed. */
  readonly failures: readonly string[];
}

/**
 * Runs the tests of the mutant's law in a process of its own, with the mutated source. Nothing is written.
 * @throws Error if the text to replace is not in the file exactly once, or if no tests could be run
 */
export async function runMutant(mutant: Mutant): Promise<Outcome> {
  const found = readFileSync(join(root, mutant.file), "utf8").split(mutant.from).length - 1;
  if (found !== 1) throw new Error(`${mutant.file} has this text ${found} times, not once: ${mutant.from}`);
  const law = mutant.law.toLowerCase();
  const args = [
    "--import",
    join(root, "test/laws/mutants/hook.ts"),
    join(root, "node_modules/mocha/bin/mocha.js"),
    ...["--reporter", "json", "--fgrep", mutant.test, join(root, `test/laws/${law}-*.test.ts`)],
  ];
  const env = {
    ...process.env,
    NODEVOLUME_LAWS_MUTANT: JSON.stringify(mutant),
    NODEVOLUME_LAWS_RUNS: String(mutant.runs ?? usualRuns),
    NODEVOLUME_FULL: "",
    NODEVOLUME_LAWS_SEED: "",
  };
  const options = { cwd: root, env, timeout: deadlineMs, killSignal: "SIGKILL", maxBuffer: 1 << 24 } as const;
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, args, options, (_failed, out, err) => resolve({ stdout: out, stderr: err }));
  });
  const start = stdout.indexOf("{\n");
  if (start === -1) throw new Error(`the law could not be run: ${stderr.slice(0, 2000)}${stdout.slice(0, 2000)}`);
  const report = JSON.parse(stdout.slice(start)) as {
    stats: { passes: number };
    failures: { err: { message?: string } }[];
  };
  return { passed: report.stats.passes, failures: report.failures.map(({ err }) => err.message ?? "?") };
}
