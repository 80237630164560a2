import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { root } from "../../hack/lib/root.ts";
import type { Edit } from "../sim/mutations/mutation.ts";

/** Milliseconds after which tests that do not end count as having noticed. */
const deadlineMs = 120_000;
/** The same of tests on the real kernel, which wait for it; and of each of them: a machine that is busy is no fault. */
const realDeadlineMs = 600_000;
const realTimeoutMs = 60_000;

export interface Verdict {
  readonly noticed: boolean;
  /** The first test that failed, or what else was noticed; else what was tried. */
  readonly what: string;
  /** File of the test that failed. */
  readonly test?: string;
}

/** For tests that mount: a mount and a process namespace of their own, which end with them. */
const namespaces = ["unshare", "-m", "-p", "--fork", "--kill-child=KILL", "--mount-proc", "--propagation", "private"];

/** Quick tests that notice most. */
const quick =
  /\/(plan|kept-and-gone|allowed-paths|status-\w+|intent-status|release\S*|lost-record-steps|(torn-)?journal\S*|taken-down|driver-fails|operation-executor|pending-operations|pod-plan|incremental-planner|decide-\w+|live-writes)\.test\.ts$/;

/** Unit tests of the room of a source file. */
export interface UnitTests {
  /** Those of the file itself by name, and quick ones that notice most. */
  readonly near: readonly string[];
  /** All others, those of its folder first. */
  readonly far: readonly string[];
}

export function unitTestsOf(file: string): UnitTests {
  const [, room = ""] = file.split("/");
  const top = join("test/unit", room);
  const all = readdirSync(join(root, top), { recursive: true, encoding: "utf8" });
  const tests = all.filter((name) => name.endsWith(".test.ts")).map((name) => join(top, name));
  const own = basename(file, ".ts");
  const folder = dirname(file).replace(/^src/, "test/unit");
  const isOwn = (test: string) => basename(test).includes(own);
  const soon = tests.filter((test) => !isOwn(test) && quick.test(test)).sort();
  const others = tests.filter((test) => !isOwn(test) && !quick.test(test)).sort();
  const beside = others.filter((test) => dirname(test) === folder);
  const rest = others.filter((test) => dirname(test) !== folder);
  return { near: [...tests.filter(isOwn).sort(), ...soon], far: [...beside, ...rest] };
}

/**
 * Runs unit tests on broken sources, in a process of its own, until the first fails. Nothing is written to the sources.
 * @throws Error if a text to replace is not in its file exactly once, or if the tests could not be run: the broken
 *   source is no program, perhaps
 */
export async function byUnitTests(
  edits: readonly Edit[],
  tests: readonly string[],
  settings: { readonly [name: string]: string } = {},
  within: readonly string[] = [],
): Promise<Verdict> {
  for (const { file, from } of edits) {
    const found = readFileSync(join(root, file), "utf8").split(from).length - 1;
    if (found !== 1) throw new Error(`${file} has this text ${found} times, not once: ${from}`);
  }
  const folder = mkdtempSync(join(tmpdir(), "nvo-mutant-"));
  try {
    const output = join(folder, "report.json");
    const command = [
      ...[...within, process.execPath],
      ...["--import", join(root, "test/sim/mutations/hook.ts"), join(root, "node_modules/mocha/bin/mocha.js")],
      ...["--bail", "--exit", "--reporter", "json", "--reporter-option", `output=${output}`, ...tests],
    ];
    const { hung, stderr } = await run(command, { ...settings, NODEVOLUME_SIM_EDITS: JSON.stringify(edits) });
    if (hung) return { noticed: true, what: "the tests did not end in time" };
    const report = reportIn(output, stderr);
    const [failed] = report.failures;
    if (failed === undefined) return { noticed: false, what: `${report.stats.passes} tests passed` };
    const what = `${failed.fullTitle}: ${firstLine(failed.err.message ?? "?")}`;
    return { noticed: true, what, test: relative(root, failed.file) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same with tests on the real kernel. Needs root. */
export function byRealTests(edits: readonly Edit[], tests: readonly string[]): Promise<Verdict> {
  return byUnitTests(edits, [`--timeout=${realTimeoutMs}`, ...tests], {}, namespaces);
}

interface Report {
  readonly stats: { readonly passes: number };
  readonly failures: readonly {
    readonly fullTitle: string;
    readonly file: string;
    readonly err: { readonly message?: string };
  }[];
}

function run([program = "", ...args]: readonly string[], settings: { readonly [name: string]: string }) {
  const env = { ...process.env, NODEVOLUME_FULL: "", NODEVOLUME_GREP: "", ...settings };
  const options = {
    cwd: root,
    env,
    timeout: program === process.execPath ? deadlineMs : realDeadlineMs,
    killSignal: "SIGKILL",
    maxBuffer: 1 << 26,
  } as const;
  return new Promise<{ hung: boolean; stderr: string }>((resolve) => {
    execFile(program, args, options, (error, _out, stderr) => resolve({ hung: error?.killed === true, stderr }));
  });
}

function reportIn(file: string, stderr: string): Report {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Report;
  } catch (error) {
    throw new Error(`the tests could not be run: ${stderr.slice(0, 2000)}`, { cause: error });
  }
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
