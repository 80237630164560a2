import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import koffi from "koffi";

/**
 * Gives back the memory of what is not used any more. V8 collects garbage only when more is asked for: after a thousand
 * volumes were set up, that of it all would stay as long as nothing happens, and be more than all that is in use. And
 * of what was freed, glibc keeps each page that is not at the end until it is told not to (malloc_trim(3); musl has no
 * such call). Takes as long as there are things in use: about 50 ms for a thousand volumes.
 */
export function memoryReturner(): () => void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  const trim = mallocTrim();
  return () => {
    if (typeof collect !== "function") return;
    collect();
    collect(); // what was found by the first is freed beside it, and for certain by the time that the second begins
    trim?.(0);
  };
}

function mallocTrim(): ((pad: number) => number) | undefined {
  try {
    return koffi.load(null).func("int malloc_trim(size_t pad)");
  } catch (error) {
    if (error instanceof Error && error.message.includes("malloc_trim")) return undefined;
    throw error;
  }
}
