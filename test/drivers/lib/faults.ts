// Faults that a test orders from a driver, by a file that it writes (whole, by rename) and the driver reads at each
// call.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { status } from "@grpc/grpc-js";

/** Every status of gRPC but OK. */
export const codes = {
  CANCELLED: status.CANCELLED,
  UNKNOWN: status.UNKNOWN,
  INVALID_ARGUMENT: status.INVALID_ARGUMENT,
  DEADLINE_EXCEEDED: status.DEADLINE_EXCEEDED,
  NOT_FOUND: status.NOT_FOUND,
  ALREADY_EXISTS: status.ALREADY_EXISTS,
  PERMISSION_DENIED: status.PERMISSION_DENIED,
  RESOURCE_EXHAUSTED: status.RESOURCE_EXHAUSTED,
  FAILED_PRECONDITION: status.FAILED_PRECONDITION,
  ABORTED: status.ABORTED,
  OUT_OF_RANGE: status.OUT_OF_RANGE,
  UNIMPLEMENTED: status.UNIMPLEMENTED,
  INTERNAL: status.INTERNAL,
  UNAVAILABLE: status.UNAVAILABLE,
  DATA_LOSS: status.DATA_LOSS,
  UNAUTHENTICATED: status.UNAUTHENTICATED,
} as const;
export type Code = keyof typeof codes;

/** What happens to a call that a rule is for. */
export type Fault =
  /** Answers with a code instead of doing it, or after it was done. */
  | { readonly kind: "code"; readonly when: "before" | "after"; readonly code: Code; readonly message?: string }
  /** Never answers; whether it is done all the same. */
  | { readonly kind: "silence"; readonly when: "before" | "after" }
  /** Waits until the rule is gone; before it is done, or before it is answered. */
  | { readonly kind: "hold"; readonly when: "before" | "after" }
  /** Waits; before it is done, or before it is answered. */
  | { readonly kind: "delay"; readonly when: "before" | "after"; readonly ms: number }
  /** Answers OK, and has done nothing. */
  | { readonly kind: "lie" }
  /** Does it, and answers with so many bytes more, in a field that no version of the specification has. */
  | { readonly kind: "huge"; readonly bytes: number };

export interface FaultRule {
  /** Counts its uses; another rule has another one. */
  readonly id: string;
  /** Name of the RPC as the specification has it, such as NodeStageVolume. */
  readonly rpc: string;
  /** Only for this volume, or on this node. */
  readonly volume?: string;
  readonly node?: string;
  /** Only for the first so many calls, by the count of each process. */
  readonly times?: number;
  readonly fault: Fault;
}

export interface Faults {
  /** The fault for a call, counted as used; undefined if it goes on as usual. */
  take(rpc: string, volume: string | undefined): (FaultRule & { stands(): boolean }) | undefined;
}

export function faultsFrom(path: string | undefined, node: string): Faults {
  const used = new Map<string, number>();
  const rules = () => (path === undefined ? [] : readFaults(path));
  return {
    take(rpc, volume) {
      const rule = rules().find(
        (r) => concerns(r, { rpc, volume, node }) && (used.get(r.id) ?? 0) < (r.times ?? Infinity),
      );
      if (rule === undefined) return undefined;
      used.set(rule.id, (used.get(rule.id) ?? 0) + 1);
      return { ...rule, stands: () => rules().some(({ id }) => id === rule.id) };
    },
  };
}

export function concerns(rule: FaultRule, call: { rpc: string; volume: string | undefined; node: string }): boolean {
  if (rule.rpc !== call.rpc) return false;
  return (rule.volume ?? call.volume) === call.volume && (rule.node ?? call.node) === call.node;
}

function readFaults(path: string): readonly FaultRule[] {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as FaultRule[]) : [];
}

/** For tests: these faults from now on, and no others. */
export function orderFaults(path: string, rules: readonly FaultRule[]): void {
  writeFileSync(`${path}.new`, JSON.stringify(rules));
  renameSync(`${path}.new`, path);
}
