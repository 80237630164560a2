import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { Answer, Ask, Calls } from "./generator/process.ts";

/** The cluster that the controller is measured in, as whoever measures speaks to it. */
export interface Backend {
  call<C extends keyof Calls>(call: C, asks: Calls[C]["asks"]): Promise<Calls[C]["says"]>;
  stop(): Promise<void>;
}

/** What is written is kept as text: half a million objects of some KB. */
const heapMiB = 12_000;

export function startGenerator(): Backend {
  const execArgv = [`--max-old-space-size=${heapMiB}`];
  const child: ChildProcess = fork(join(import.meta.dirname, "generator/process.ts"), { execArgv });
  const waiting = new Map<number, (answer: Answer) => void>();
  let calls = 0;
  child.on("message", (answer: Answer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  child.on("exit", (code, signal) => {
    for (const [id, tell] of waiting) tell({ id, error: `the generator ended: ${code ?? signal}` });
    waiting.clear();
  });
  return {
    call(call, asks) {
      calls += 1;
      const id = calls;
      return new Promise((resolve, reject) => {
        waiting.set(id, ({ says, error }) => (error === undefined ? resolve(says as never) : reject(new Error(error))));
        child.send({ id, call, asks } satisfies Ask);
      });
    },
    async stop() {
      child.kill("SIGKILL");
    },
  };
}
