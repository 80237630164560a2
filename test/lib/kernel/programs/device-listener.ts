import { loadWakeCalls } from "../../../../src/host/linux/syscall/inotify-calls.ts";
import { DeviceWakes } from "../../../../src/host/linux/wakeups/wake-devices.ts";
import { systemClock, systemTimers } from "../../../../src/system.ts";

/** A process that says on its output when it listens to devices, and each time that it is woken. */
new DeviceWakes({ calls: loadWakeCalls(), timers: systemTimers, clock: systemClock }).watch({
  woken: () => process.stdout.write("woken\n"),
  unavailable: (why) => process.stdout.write(`unavailable: ${why}\n`),
});
process.stdout.write("listening\n");
