import type { Programs } from "../../src/host/programs.ts";

/** A node on which no vendor has put a program. */
export const noPrograms: Programs = {
  identify: async () => undefined,
  run: async (path) => {
    throw new Error(`there is no ${path} to run`);
  },
};
