import { VolumeError } from "../../../src/errors.ts";
import type { OperationContext } from "../../../src/host/ports/host-ports.ts";
import type { Latency } from "../incarnation.ts";
import type { Disk } from "../kernel/disk.ts";
import { type HostDeps, latency } from "./host-deps.ts";

/** What a disposable child is told to do. */
export interface ChildWork<T> {
  readonly what: string;
  /** Whether it changes anything; a look is not an effect that the agent can crash at. */
  readonly changes: boolean;
  readonly latency: Latency;
  /** The device that it waits for, without a way to end it while the device does not answer. */
  readonly disk?: Disk | undefined;
  apply(): T;
  /** What it leaves if it is killed in the middle. */
  cutOff?(): void;
}

const killGraceMs = 1000;
/** How long a child works on after its agent has died. */
const orphanMs = 2_000;

/**
 * Carries out work in a process of its own, which goes on when the agent dies. It is in the journal before it is told
 * what to do. After the deadline it is killed, unless the kernel holds it: then it is abandoned, and its effect may
 * still happen.
 */
export async function inChild<T>(deps: HostDeps, operation: OperationContext, work: ChildWork<T>): Promise<T> {
  const { kernel } = deps.machine;
  const child = await deps.incarnation.look(latency.spawn, () =>
    kernel.processes.start("nodevolume-child", deps.namespace),
  );
  let told = false;
  let ended = false;
  deps.incarnation.atEnd(() => {
    if (!told) kernel.processes.end(child); // its input ends before it was told what to do
    deps.schedule(0, () => {
      const killed = deps.machine.kernel !== kernel || kernel.processes.get(child.pid) !== child;
      if (told && !ended && killed) work.cutOff?.();
    });
  });
  try {
    await operation.onChild({ pid: child.pid, startTime: child.startTime });
  } catch (error) {
    kernel.processes.end(child);
    throw error;
  }
  told = true;
  return new Promise((resolve, reject) => {
    const run = () => {
      if (deps.machine.kernel !== kernel || kernel.processes.get(child.pid) !== child) return; // killed before
      const done = () => {
        ended = true;
        kernel.processes.end(child);
      };
      const apply = () => kernel.as("agent", work.apply);
      if (!deps.incarnation.alive || !work.changes) {
        settle(apply, resolve, reject, done);
        return;
      }
      const name = `child ${child.pid}: ${work.what}`;
      let goesOn = false;
      deps.incarnation.perform(name, deps.incarnation.failing(name, apply), {
        // The agent dies while the child works: that goes on, unless the child is killed with the agent.
        tear: () => {
          goesOn = true;
          deps.schedule(orphanMs, run);
        },
        resolve: (value) => {
          done();
          resolve(value);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      });
      if (!goesOn) done();
    };
    const { low, high } = work.latency;
    deps.schedule(low + deps.incarnation.system.random.next() * (high - low), () => {
      if (work.disk === undefined) run();
      else work.disk.whenAnswering(run);
    });
    deps.incarnation.system.timers.after(operation.deadlineMs, () => {
      if (kernel.processes.get(child.pid) !== child) return;
      if (work.disk?.hung !== true) {
        ended = true;
        kernel.processes.end(child);
        work.cutOff?.();
        const seconds = Math.round(operation.deadlineMs / 1000);
        reject(new VolumeError("TimedOut", "uncertain", `no answer within ${seconds} s`));
        return;
      }
      deps.incarnation.system.timers.after(killGraceMs, () => {
        const message = `process ${child.pid} does not end, even killed: the kernel waits for a device or server`;
        const on = { kind: "Process", name: `${child.pid}` };
        reject(new VolumeError("OperationAbandoned", "uncertain", message, { on }));
      });
    });
  });
}

function settle<T>(apply: () => T, resolve: (value: T) => void, reject: (error: unknown) => void, done: () => void) {
  try {
    resolve(apply());
  } catch (error) {
    reject(error);
  }
  done();
}
