import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import type { Logger, Timers } from "../../../ports.ts";
import type { OperationContext } from "../../ports/host-ports.ts";
import type { ClientStart, Clients } from "../../ports/programs.ts";
import type { ChildProcessID } from "../../ports/types.ts";
import type { Wakeups } from "../../ports/wakeups.ts";
import { askChild, runProgram } from "../child/child-reply.ts";
import type { ChildRunner } from "../child/child-runner.ts";
import { findProgram } from "../child/find-program.ts";
import { staysMark } from "../child/leave-cgroup.ts";
import { outputExcerpt } from "../child/output-excerpt.ts";
import { isAlive } from "../child/processes.ts";
import { ifThere, unlessGone } from "../syscall/errno.ts";

/** Milliseconds that a client which was killed has to end: it writes nothing then, but gives back its memory. */
const killedMs = 5_000;
/** Bytes of a log that are looked at for the last words. */
const logTail = 8 * 1024;

/** Dependencies of starting and ending FUSE clients. */
export interface ClientsDeps {
  readonly runner: ChildRunner;
  readonly operation: OperationContext;
  readonly wakeups: Pick<Wakeups, "process">;
  readonly timers: Timers;
  readonly log: Pick<Logger, "warn">;
  /** The node's root as the agent sees it: / if it is in no container. */
  readonly hostRoot: string;
}

/** Clients that make daemons of themselves: who has started one waits until it says that it has mounted, or has not. */
export class LinuxClients implements Clients {
  readonly #deps: ClientsDeps;

  constructor(deps: ClientsDeps) {
    this.#deps = deps;
  }

  async start({ program, args, secret, pidFile, log, mount }: ClientStart): Promise<ChildProcessID> {
    const { runner, operation, hostRoot } = this.#deps;
    const file = findProgram(program);
    const given = { ...(secret !== undefined && { secret }), ...(hostRoot !== "/" && { outlives: { hostRoot } }) };
    const work = { kind: "exec", file, args, ...given } as const;
    try {
      const { code, stderr } = await runProgram(runner, work, operation, { waitsFor: mount });
      const client = code === 0 ? await this.running(pidFile) : undefined;
      if (client !== undefined) {
        this.warnOf(stderr, client, mount.source);
        return client;
      }
      const words = (await this.lastWords(log)) || outputExcerpt(stderr) || `${program} ended with ${code}`;
      const on = { kind: "Server", name: mount.source };
      throw new VolumeError("ServerUnreachable", "transient", `mounting ${mount.source}: ${words}`, { on });
    } catch (error) {
      // What was killed at its deadline may have left a daemon, which would mount behind the next attempt.
      const left = await this.running(pidFile);
      if (left !== undefined) await this.kill(left);
      throw error;
    }
  }

  /** A client that could not leave the container says so. */
  warnOf(stderr: string, { pid }: ChildProcessID, source: string): void {
    const [, why] = stderr.split(staysMark);
    if (why === undefined) return;
    const message = `the client of ${source} ends with the agent's container, and the volume is mounted anew then: it could not leave the container's cgroup`;
    this.#deps.log.warn(message, { pid, error: why.split("\n")[0] });
  }

  /** A pid that is another's by now has other arguments; one that has ended, none. A child reads them: it may wait. */
  async running(pidFile: string): Promise<ChildProcessID | undefined> {
    const pid = Number(ifThere(() => readFileSync(pidFile, "latin1"))?.trim());
    if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
    const { runner, operation } = this.#deps;
    const reply = await askChild(runner, { kind: "client", pid, pidFile }, operation);
    if (reply.ok) return reply.value;
    const message = `it is unknown whether process ${pid} is the client of ${pidFile}: ${reply.error.message}`;
    throw new VolumeError("SetUpFailed", "transient", message);
  }

  ended(client: ChildProcessID, withinMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const stopWatching = this.#deps.wakeups.process(client, { woken: () => resolve(true), unavailable: () => {} });
    const cancel = this.#deps.timers.after(withinMs, () => resolve(!goesOn(client)));
    return promise.finally(() => {
      stopWatching();
      cancel();
    });
  }

  async kill(client: ChildProcessID): Promise<void> {
    if (goesOn(client)) ifThere(() => process.kill(client.pid, "SIGKILL"));
    if (await this.ended(client, killedMs)) return;
    const message = `process ${client.pid} does not end, even killed: the kernel waits for its server`;
    throw new VolumeError("OperationAbandoned", "uncertain", message, {
      on: { kind: "Process", name: `${client.pid}` },
    });
  }

  async lastWords(log: string): Promise<string> {
    const lines = (ifThere(() => endOf(log)) ?? "").split("\n").filter((line) => / [EC] \[/.test(line));
    return lines
      .slice(-2)
      .map((line) => line.replace(/^\[[^\]]*\] [EC] (\[MSGID: \d+\] )?\[[^\]]*\] /, "").trim())
      .join("; ")
      .slice(-512);
  }
}

function goesOn(client: ChildProcessID): boolean {
  return unlessGone(() => isAlive(client)) ?? false;
}

function endOf(path: string): string {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const tail = Buffer.alloc(Math.min(size, logTail));
    return tail.toString("utf8", 0, readSync(fd, tail, 0, tail.length, size - tail.length));
  } finally {
    closeSync(fd);
  }
}
