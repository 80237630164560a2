/**
 * What can be turned on or off because it is young: one list, and nothing else decides. A setting that stays belongs
 * into config.ts; a gate goes away, one way or the other (decision 0076). PURE.
 */
interface FeatureGate {
  /** Alpha: off unless asked for, and may vanish. Beta: can be turned off. GA: cannot be turned off any more. */
  readonly stage: "Alpha" | "Beta" | "GA";
  readonly default: boolean;
  /** Version since which it is at this stage. */
  readonly since: string;
  /** Version that knows the gate no more, if that is decided. */
  readonly removal?: string;
  /** Where it decides something. Both roles take every gate, as they read the same settings. */
  readonly roles: readonly ("controller" | "agent")[];
  /** As in docs/settings.md. */
  readonly what: string;
}

/** Feature gates by name. */
export type GateTable = { readonly [name: string]: FeatureGate };

/** The feature gates, with their stages and defaults (decision 0076). */
export const featureGates = {
  KernelMountTable: {
    stage: "Beta",
    default: true,
    since: "0.1.0",
    roles: ["agent"],
    what: "the agent reads the mount table with statmount(2), listmount(2) and fanotify, if the kernel has them; off: only /proc/PID/mountinfo",
  },
  ReadAsNode: {
    stage: "Beta",
    default: true,
    since: "0.1.0",
    roles: ["agent"],
    what: "the agent reads objects without a grant to the agents as its own node (KEP-5284, Beta in Kubernetes 1.36); off: only granted objects are read",
  },
} as const satisfies GateTable;

/** The name of a feature gate. */
type FeatureName = keyof typeof featureGates;

/** Whether each is on. */
export type Features = { readonly [name in FeatureName]: boolean };

/** What is wrong with a list of gates, in words that name the gate. */
export class FeatureGateError extends Error {
  override readonly name = "FeatureGateError";
}

/** `A=true,B=false` → whether each gate is on; those not named are as by default. @throws FeatureGateError */
export function parseFeatureGates<T extends GateTable>(
  text: string,
  gates: T,
): { readonly [name in keyof T]: boolean } {
  const on: { [name: string]: boolean } = {};
  for (const [name, gate] of Object.entries(gates)) on[name] = gate.default;
  const given = new Map<string, boolean>();
  for (const entry of text.split(",").map((part) => part.trim())) {
    if (entry === "") continue;
    const [, name = "", value] = /^([^=]*)=(true|false)$/.exec(entry) ?? [];
    if (value === undefined) throw new FeatureGateError(`${JSON.stringify(entry)} is not NAME=true or NAME=false`);
    const gate = Object.hasOwn(gates, name) ? gates[name] : undefined;
    if (gate === undefined) {
      throw new FeatureGateError(`there is no feature ${JSON.stringify(name)}: known are ${known(gates)}`);
    }
    const wanted = value === "true";
    if (gate.stage === "GA" && !wanted) {
      const end = gate.removal === undefined ? "" : `, and the gate goes with ${gate.removal}`;
      throw new FeatureGateError(`${name} is GA since ${gate.since} and cannot be turned off${end}`);
    }
    if (given.has(name) && given.get(name) !== wanted) throw new FeatureGateError(`${name} is set to both on and off`);
    given.set(name, wanted);
    on[name] = wanted;
  }
  return Object.freeze(on) as { readonly [name in keyof T]: boolean };
}

function known(gates: GateTable): string {
  const all = Object.entries(gates).map(([name, { stage, default: on }]) => `${name} (${stage}, ${on})`);
  return all.sort().join(", ");
}
