import { closeSync } from "node:fs";
import koffi from "koffi";
import type { Cancel, Timers } from "../../../ports.ts";
import type { WakeupListener, WatchedProcess, WatchUnavailable } from "../../ports/wakeups.ts";
import { startTimeOf } from "../child/child-runner.ts";
import { errnoOf, ifThere, unlessErrno } from "../syscall/errno.ts";
import { limitMs, type WakeCalls, watchErrorReason } from "../syscall/inotify-calls.ts";

/** Milliseconds after which the end of a zombie is reported: its resources are free, and some parents never wait(2). */
const reapMs = 50;
const reapCheckMs = 5;
const gone = ["ENOENT", "ESRCH"];

/** Dependencies of watching processes. */
export interface ProcessWakesDeps {
  readonly calls: WakeCalls;
  readonly timers: Timers;
}

/**
 * Tells when a process has ended, by a pidfd (pidfd_open(2)): it needs no parenthood, costs nothing meanwhile, and
 * unlike an open file of /proc/PID keeps nothing of the process alive, neither its memory nor its mount namespace.
 */
export function watchProcess(deps: ProcessWakesDeps, process: WatchedProcess, listener: WakeupListener): Cancel {
  const { timers } = deps;
  let cancel: Cancel = () => {};
  let unavailable: WatchUnavailable | undefined;
  const soon = (ms: number, action: () => void) => {
    cancel = timers.after(ms, action);
  };
  const tell = (why: WatchUnavailable | undefined) => {
    if (why !== unavailable) listener.unavailable(why);
    unavailable = why;
  };
  const whenReaped = (waitedMs: number) => {
    if (waitedMs >= reapMs || isReaped(process.pid)) listener.woken();
    else soon(reapCheckMs, () => whenReaped(waitedMs + reapCheckMs));
  };
  const listen = () => {
    let fd: number | undefined;
    try {
      fd = openProcess(deps.calls, process);
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined) throw error;
      const why = watchErrorReason(code);
      soon(0, () => {
        if (why === "limit") soon(limitMs, listen);
        tell(why);
      });
      return;
    }
    cancel =
      fd === undefined ? timers.after(0, () => listener.woken()) : whenEnded(fd, () => soon(0, () => whenReaped(0)));
    if (unavailable !== undefined) tell(undefined);
  };
  listen();
  return () => {
    const end = cancel;
    cancel = () => {};
    end();
  };
}

/** A pidfd of the process; undefined if it has ended, or its pid is another's by now. @throws Errno */
function openProcess(calls: WakeCalls, { pid, startTime }: WatchedProcess): number | undefined {
  const fd = unlessErrno(gone, () => calls.pidfdOpen(pid));
  if (fd === undefined) return undefined;
  try {
    // Asked for after the descriptor was opened: from here on the pid cannot come to mean another process unnoticed.
    if (startTime === undefined || startOf(pid) === startTime) return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  closeSync(fd);
  return undefined;
}

function whenEnded(fd: number, ended: () => void): Cancel {
  const handle = koffi.node.poll(fd, { readable: true }, () => {
    close();
    ended();
  });
  const close = () => {
    handle.close();
    closeSync(fd);
  };
  return close;
}

/** False also if it cannot be looked at, as where no more files may be opened. */
function isReaped(pid: number): boolean {
  return ifThere(() => startOf(pid) === undefined) ?? false;
}

function startOf(pid: number): number | undefined {
  return unlessErrno(gone, () => startTimeOf(pid));
}
