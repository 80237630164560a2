import type { CSIDrivers } from "../../src/csi/ports.ts";

/** A node on which no CSI driver can register. */
export const noDrivers: CSIDrivers = {
  driver: () => undefined,
  names: () => [],
  subscribe: () => () => {},
};
