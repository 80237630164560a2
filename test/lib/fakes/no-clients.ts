import type { Clients } from "../../../src/host/ports/programs.ts";

/** A node without a program that serves file systems from user space. */
export const noClients: Clients = {
  start: async ({ program }) => {
    throw new Error(`there is no ${program} to start`);
  },
  running: async () => undefined,
  ended: async () => true,
  kill: async () => {},
  lastWords: async () => "",
};
