import { readdirSync, readFileSync } from "node:fs";

/** What a process takes of the node, now. */
export interface ProcessFigures {
  readonly rssBytes: number;
  readonly fds: number;
  readonly threads: number;
  /** Processes that it has started and that have not ended. */
  readonly children: number;
}

/** @throws ENOENT if it has ended */
export function processFigures(pid: number): ProcessFigures {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  return {
    rssBytes: field("VmRSS") * 1024,
    fds: readdirSync(`/proc/${pid}/fd`).length,
    threads: field("Threads"),
    children: childrenOf(pid).length,
  };
}

/** Process ids; of threads that ended meanwhile none. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    try {
      const text = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1");
      return text.split(" ").filter(Boolean).map(Number);
    } catch (error) {
      if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
      throw error;
    }
  });
}
