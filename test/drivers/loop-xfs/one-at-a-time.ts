import { Refusal } from "../lib/serve.ts";

export type Exclusively = <T>(volume: string, action: () => Promise<T>) => Promise<T>;

/** Refuses a second operation on a volume while one is going on, with the status that the specification has for it. */
export function oneAtATime(): Exclusively {
  const busy = new Set<string>();
  return async (volume, action) => {
    if (busy.has(volume)) throw new Refusal("ABORTED", `an operation on ${volume} is going on`);
    busy.add(volume);
    try {
      return await action();
    } finally {
      busy.delete(volume);
    }
  };
}
