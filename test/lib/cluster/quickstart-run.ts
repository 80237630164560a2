// npm run quickstart, as people type it.
import { type ChildProcess, spawn } from "node:child_process";
import { lookForTraces } from "../../../hack/lib/lanes/leftovers.ts";
import { root } from "../../../hack/lib/root.ts";
import { newRunId, runVariable } from "../../../hack/lib/sandbox/outside.ts";
import { expectCode, lastLines } from "../asserts/last-lines.ts";

export type QuickstartRun = ReturnType<typeof startQuickstart>;

/** Starts it in a process group of its own, as a terminal does. */
export function startQuickstart(args: readonly string[]) {
  const id = newRunId();
  const before = lookForTraces();
  const npm: ChildProcess = spawn("npm", ["run", "quickstart", "--", ...args], {
    cwd: root,
    env: { ...process.env, [runVariable]: id },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const waiting = new Set<() => void>();
  for (const stream of [npm.stdout, npm.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      for (const look of waiting) look();
    });
  }
  const ended = new Promise<number | null>((resolve) => npm.on("exit", (code) => resolve(code)));
  // Its last words may come after its end.
  const closed = new Promise<number | null>((resolve) => npm.on("close", (code) => resolve(code)));
  return {
    id,
    before,
    npm,
    ended,
    output: () => output,
    /** Waits for its end and all that it said. @throws Error with the end of the output if it is another code */
    exits: async (code: number) => expectCode(await closed, code, output),
    /** @throws Error with the end of the output if nothing of it is like this */
    said: (text: RegExp) => {
      if (!text.test(output)) throw new Error(`it never said ${text}, and last\n${lastLines(output)}`);
    },
    step: () => [...output.matchAll(/==> (.*)/g)].at(-1)?.[1]?.slice(0, 40) ?? "npm",
    says: (text: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => output.includes(text) && resolve();
        waiting.add(look);
        void closed.then((code) =>
          reject(new Error(`ended with ${code} before it said ${text}:\n${lastLines(output)}`)),
        );
        look();
      }),
  };
}
