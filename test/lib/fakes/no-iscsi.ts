import type { ISCSI } from "../../../src/host/ports/iscsi.ts";

/** A node without an iSCSI initiator. */
export const noISCSI: ISCSI = {
  exclusively: (_iqn, act) => act(),
  sessions: async () => [],
  login: async ({ iqn }) => {
    throw new Error(`there is no ${iqn}`);
  },
  logout: async () => {},
  found: (look) => look(),
};
