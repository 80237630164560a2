import { spawn } from "node:child_process";
import { join } from "node:path";
import { eachLine } from "../../../hack/lib/lines.ts";
import { root } from "../../../hack/lib/root.ts";
import { until } from "../../../hack/lib/until.ts";
import type { InstallWorld } from "./install-world.ts";

interface LoadSoFar {
  readonly round: number;
  readonly reads: number;
  readonly writes: number;
  /** Milliseconds of the longest round, with the pause after it. */
  readonly longestMs: number;
}

export interface Load {
  /**
   * Waits for two more rounds: whatever was done before is read back. @returns all until then
   * @throws Error if a read or write has failed
   */
  soFar(): Promise<LoadSoFar>;
  /** Ends it. @throws Error if a read or write has failed */
  end(): Promise<LoadSoFar>;
  /** For an after hook: whatever its state. */
  [Symbol.dispose](): void;
}

/**
 * A process of the node that writes and reads in folders until it is ended. It keeps a file open in each, so that no
 * other mount gets the id of one of theirs: who finds the ids as they were, finds the mounts.
 */
export function startLoad(world: Pick<InstallWorld, "node">, folders: readonly string[]): Load {
  const main = join(root, "test/lib/install/install-load-main.ts");
  const child = spawn("nsenter", [
    ...world.node.host.enter,
    ...["--", "setpriv", "--pdeathsig", "KILL", process.execPath],
    ...[main, ...folders],
  ]);
  child.stdin.on("error", () => undefined); // it has ended: its exit code says why
  let last: LoadSoFar = { round: 0, reads: 0, writes: 0, longestMs: 0 };
  let complaint = "";
  eachLine(child.stdout, (line) => {
    last = JSON.parse(line) as LoadSoFar;
  });
  eachLine(child.stderr, (line) => {
    complaint += `${line}\n`;
  });
  let code: number | null | undefined;
  const ended = new Promise<void>((resolve) =>
    child.on("close", (status) => {
      code = status;
      resolve();
    }),
  );
  const failure = () => new Error(`the load ended with ${code} in round ${last.round}: ${complaint}`);
  return {
    async soFar() {
      const target = last.round + 2;
      await until("two rounds of the load", 30_000, () => last.round >= target || code !== undefined);
      if (code !== undefined) throw failure();
      return last;
    },
    async end() {
      child.stdin.end();
      await ended;
      if (code !== 0) throw failure();
      return last;
    },
    [Symbol.dispose]() {
      child.kill("SIGKILL");
    },
  };
}
