import type { FlockerService } from "../../src/host/flocker.ts";
import type { Programs } from "../../src/host/programs.ts";

/** A node on which no vendor has put a program. */
export const noPrograms: Programs = {
  identify: async () => undefined,
  run: async (path) => {
    throw new Error(`there is no ${path} to run`);
  },
};

/** A node without Flocker. */
export const noFlocker: FlockerService = {
  name: "localhost:4523",
  get: async () => Promise.reject(new Error("there is no Flocker")),
  post: async () => Promise.reject(new Error("there is no Flocker")),
  addresses: () => [],
};
