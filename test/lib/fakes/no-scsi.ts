import type { Scsi } from "../../../src/host/ports/scsi.ts";

/** A node without a SCSI disk. */
export const noScsi: Scsi = {
  look: async () => ({ disks: [], ports: [], hosts: [], multipathd: false }),
  scan: async ({ host }) => {
    throw new Error(`there is no host${host}`);
  },
  rescan: async ({ name }) => {
    throw new Error(`there is no ${name}`);
  },
  remove: async () => {},
  refuseUsed: async () => {},
  offer: async ({ name }) => {
    throw new Error(`there is no ${name}`);
  },
  flushMap: async ({ name }) => {
    throw new Error(`there is no map ${name}`);
  },
  growMap: async ({ name }) => {
    throw new Error(`there is no map ${name}`);
  },
};
