import { type FSWatcher, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { messageOf } from "./errors.ts";
import type { LeveledLogger } from "./log.ts";
import { chooseLevel, type LogLevel, type Who } from "./log-level.ts";

/** Dependencies of following the log level in a ConfigMap (decision 0075). */
export interface FollowLogLevelDeps {
  /** A ConfigMap as kubelet shows it: a file for each key, exchanged all at once. Need not be there. */
  readonly directory: string;
  readonly who: Who;
  readonly atStart: LogLevel;
  readonly log: LeveledLogger;
}

/** Keeps the log level as the files of a directory say. Asks nothing of the API server, and needs no timer. */
export function followLogLevel({ directory, who, atStart, log }: FollowLogLevelDeps): () => void {
  let told = "";
  const look = () => {
    const { level, by, wrong } = chooseLevel(who, (file) => textOf(join(directory, file), log), atStart);
    const says = wrong.join("; ");
    if (says !== "" && says !== told) log.error("unknown log level, ignored", { says });
    told = says;
    if (level === log.level()) return;
    const before = log.level();
    log.setLevel("info"); // who goes from error to warn hears of it, too
    log.info("the log level is another one from now on", { level, before, by: by ?? "the settings at the start" });
    log.setLevel(level);
    log.debug("debug lines are written from now on");
  };
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(directory, { persistent: false }, look);
    watcher.on("error", (error) => {
      log.warn("the log level is not followed any more", { directory, error });
      watcher?.close();
    });
  } catch (error) {
    log.warn("the log level is as at the start: its directory cannot be watched", { directory, error });
  }
  look();
  return () => watcher?.close();
}

function textOf(path: string, log: LeveledLogger): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      log.warn("a log level cannot be read", { path, error: messageOf(error) });
    }
    return undefined;
  }
}
