import { readFileSync } from "node:fs";
import type { Descriptor } from "./descriptor.ts";

/** The id of the mount that a descriptor is in, as mountinfo has it, without a question to its file system. */
export function mountIDOf({ fd }: Descriptor): number {
  return Number(/^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1] ?? -1);
}
