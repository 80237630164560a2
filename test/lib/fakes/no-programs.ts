import type { NBDImages, RBDDevices } from "../../../src/host/ports/ceph.ts";
import type { FlockerService } from "../../../src/host/ports/flocker.ts";
import type { Programs } from "../../../src/host/ports/programs.ts";

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

/** A kernel without RBD. */
export const noRBD: RBDDevices = {
  find: async () => Promise.reject(new Error("there is no RBD")),
  map: async () => Promise.reject(new Error("there is no RBD")),
  unmap: async () => Promise.reject(new Error("there is no RBD")),
};

/** A kernel without NBD. */
export const noNBD: NBDImages = {
  find: async () => Promise.reject(new Error("there is no NBD")),
  deviceOf: async () => Promise.reject(new Error("there is no NBD")),
  serve: async () => Promise.reject(new Error("there is no NBD")),
  disconnect: async () => Promise.reject(new Error("there is no NBD")),
};
