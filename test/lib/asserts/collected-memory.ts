import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes that this process keeps once its garbage is collected, in its heap and beside it. */
export function collectedMemory(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let times = 0; times < 2; times++) collect(); // what finalizers keep is gone after the second
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
