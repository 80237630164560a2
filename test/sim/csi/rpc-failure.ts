import type { Code } from "../../../src/csi/client/rpc.ts";

/** A status with which a driver answers instead of OK. */
export class RPCFailure extends Error {
  override readonly name = "RPCFailure";
  readonly code: Code;

  constructor(code: Code, message: string) {
    super(message);
    this.code = code;
  }
}
