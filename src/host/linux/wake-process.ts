import { closeSync } from "node:fs";
import koffi from "koffi";
import type { Cancel, Timers } from "../../ports.ts";
import type { WakeListener, WatchedProcess } from "../wakes.ts";
import { startTimeOf } from "./child-runner.ts";
import { errnoOf } from "./errno.ts";
import type { WakeCalls } from "./wake-calls.ts";

/**
 * Milliseconds after which an ended process that nobody has reaped is told of all the same: what it had is free, and some
 * parents never ask.
 */
const reapMs = 50;
const reapCheckMs = 5;
const gone = new Set(["ENOENT", "ESRCH"]);

export interface ProcessWakesDeps {
  readonly calls: WakeCalls;
  readonly timers: Timers;
}

/**
 * Tells when a process has ended, by a pidfd (pidfd_open(2)): it needs no parenthood, costs nothing meanwhile, and unlike
 * an open file of /proc/PID keeps nothing of the process alive, neither its memory nor its mount namespace.
 */
export function watchProcess(deps: ProcessWakesDeps, process: WatchedProcess, listener: WakeListener): Cancel {
  const { calls, timers } = deps;
  let cancel: Cancel = () => {};
  const stop = () => cancel();
  const soon = (ms: number, action: () => void) => {
    cancel = timers.after(ms, action);
  };
  let fd: number;
  try {
    fd = calls.pidfdOpen(process.pid);
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    soon(0, () => {
      if (gone.has(code)) listener.woken();
      else listener.deaf(code === "EMFILE" || code === "ENFILE" ? "limit" : "unsupported");
    });
    return stop;
  }
  // Asked for after the descriptor was opened: from here on the pid cannot come to mean another process unnoticed.
  if (process.startTime !== undefined && startOf(process.pid) !== process.startTime) {
    closeSync(fd);
    soon(0, () => listener.woken());
    return stop;
  }
  const whenReaped = (waitedMs: number) => {
    if (waitedMs >= reapMs || startOf(process.pid) === undefined) listener.woken();
    else soon(reapCheckMs, () => whenReaped(waitedMs + reapCheckMs));
  };
  const handle = koffi.node.poll(fd, { readable: true }, () => {
    close();
    soon(0, () => whenReaped(0));
  });
  const close = () => {
    handle.close();
    closeSync(fd);
  };
  cancel = close;
  return () => {
    stop();
    cancel = () => {};
  };
}

function startOf(pid: number): number | undefined {
  try {
    return startTimeOf(pid);
  } catch (error) {
    if (gone.has(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}
