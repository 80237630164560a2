import type { Cancel, System } from "../../../ports.ts";
import type { MountTableSource } from "../../ports/host-ports.ts";
import type { WakeupListener, Wakeups } from "../../ports/wakeups.ts";
import { loadWakeCalls } from "../syscall/inotify-calls.ts";
import type { Libc } from "../syscall/libc.ts";
import { DeviceWakes } from "./wake-devices.ts";
import { PathWakes } from "./wake-paths.ts";
import { watchProcess } from "./wake-process.ts";

/** Dependencies of all sources of events. */
export interface LinuxWakesDeps {
  readonly libc: Libc;
  readonly system: Pick<System, "timers" | "clock">;
  readonly mountTable: MountTableSource;
  /** Calls back whenever a child of the agent has ended. */
  onChildEnded(ended: () => void): Cancel;
}

/** What the real kernel tells of. Nothing is opened before somebody waits for it. */
export function linuxWakes({ libc, system, mountTable, onChildEnded }: LinuxWakesDeps): Wakeups {
  const calls = loadWakeCalls();
  const { timers, clock } = system;
  const paths = new PathWakes({ libc, calls, timers, mountTable });
  const devices = new DeviceWakes({ calls, timers, clock });
  return {
    path: (place, listener) => paths.watch(place, listener),
    process: (process, listener) => watchProcess({ calls, timers }, process, listener),
    devices: (listener) => devices.watch(listener),
    room: (listener: WakeupListener) => onChildEnded(() => listener.woken()),
  };
}
