import type { RemoteMount } from "../../host/ports/servers.ts";

/** A child process of a volume that takes long, or that was abandoned and has not ended. */
export interface StuckOperation {
  readonly pid: number;
  /** Given up: it was killed, or is one of an agent before. */
  readonly abandoned: boolean;
  /** Undefined if it is not known any more. */
  readonly waitsFor?: RemoteMount;
}

/** A call of a CSI driver that takes long. */
export interface SlowCall {
  readonly driver: string;
  readonly method: string;
}
