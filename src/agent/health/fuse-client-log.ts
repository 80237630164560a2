import { messageOf } from "../../errors.ts";
import type { Directories } from "../../host/ports/host-ports.ts";
import type { Cancel, System } from "../../ports.ts";

/** Bytes that the log of a client may have; what it says when its server is away repeats itself. */
const mostBytes = 1024 * 1024;
/** Milliseconds between two looks. */
const eachMs = 15_000;

/**
 * Dependencies of the upkeep of the log files of FUSE clients: a timer, a log, and truncation of a file above a size.
 */
export interface ClientLogDeps {
  readonly system: Pick<System, "timers" | "log">;
  readonly directories: Pick<Directories, "emptyIfLarger">;
}

/**
 * Empties the log of a client whenever it has grown too large: it is on the disk of the state directory, and the client
 * outlives the agent.
 */
export function boundLog(path: string, { system, directories }: ClientLogDeps): Cancel {
  let failed = "";
  let cancel: Cancel = () => {};
  const look = async () => {
    try {
      await directories.emptyIfLarger(path, mostBytes);
      failed = "";
    } catch (error) {
      const message = messageOf(error);
      if (message !== failed) system.log.error("the log of a client was not emptied", { path, error: message });
      failed = message; // said once
    }
  };
  const again = () => {
    cancel = system.timers.after(eachMs, () => {
      again();
      void look();
    });
  };
  again();
  return () => cancel();
}
