import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Gives back the memory of what is not used any more. V8 does so only when more is asked for: after a thousand volumes
 * were set up, the garbage of that would stay as long as nothing happens, and be more than all that is in use.
 * Takes as long as there are things in use: about 30 ms for a thousand volumes.
 */
export function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  return () => {
    if (typeof collect === "function") collect();
  };
}
