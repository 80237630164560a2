import type { ApiResponse } from "../../../src/kube/client/transport.ts";

/** Thrown by the rules of writing: becomes the server's answer. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly response: ApiResponse;

  constructor(code: number, reason: string | undefined, message: string) {
    super(message);
    this.response = { status: code, body: statusObject(code, reason, message) };
  }
}

/** metav1.Status of a failure. */
export function statusObject(code: number, reason: string | undefined, message: string) {
  const why = reason === undefined ? {} : { reason };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, ...why, code };
}
