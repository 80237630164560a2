import type { Cancel } from "../../ports.ts";
import type { Code } from "./rpc.ts";

/** How a call ended. `text` may have secrets in it: src/csi/client/driver-client.ts takes them out. */
export type Answer =
  | { readonly kind: "reply"; readonly bytes: Uint8Array }
  | {
      readonly kind: "status";
      /** Undefined: a number that is none of gRPC's. */
      readonly code: Code | undefined;
      readonly text: string;
      /** Whether the other side itself is known to have sent it. */
      readonly spoken: boolean;
    }
  /** Nobody was there to take the call: it was not sent. */
  | { readonly kind: "unsent" };

/** A gRPC channel to one unix socket: at most one connection at a time, made anew when it breaks and is needed. */
export interface Connection {
  /** Which of its connections this is: counts up each time that one begins. */
  readonly generation: number;
  /** Resolves with whether there is a connection, made now if need be; with false soon if nobody listens. */
  ready(withinMs: number): Promise<boolean>;
  /** @param method such as /csi.v1.Node/NodeStageVolume */
  call(method: string, request: Uint8Array, deadlineMs: number): Promise<Answer>;
  /** Calls back once when there is a connection again; tries for it until then. */
  onReturn(listener: () => void): Cancel;
  /** Calls that are under way end by themselves; no other is sent. */
  close(): void;
}

/** Connects to CSI drivers. `dial` returns at once: a driver that is not there fails the first call. */
export interface Dialer {
  /** @param path absolute path of a unix socket */
  dial(path: string): Connection;
}
