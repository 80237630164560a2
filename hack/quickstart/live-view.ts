/** What the live view shows: pure, from the objects as the API server has them. */
import type { JsonObject } from "../lib/api-client.ts";

export interface View {
  readonly lines: readonly string[];
  /** Every set has a node, and is Ready with its newest spec. */
  readonly ready: boolean;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

interface SetObject {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly status?: {
    readonly desired?: number;
    readonly ready?: number;
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

interface IntentObject {
  readonly metadata: { readonly name: string; readonly labels?: { readonly [key: string]: string } };
  readonly spec: { readonly nodeName: string };
  readonly status?: {
    readonly state?: string;
    readonly desiredMounts?: number;
    readonly readyMounts?: number;
    readonly waiting?: { readonly reason: string; readonly message: string };
    readonly conditions?: readonly Condition[];
  };
}

/** @param names of the sets that are shown and waited for */
export function viewOf(
  names: readonly string[],
  sets: ReadonlyMap<string, JsonObject>,
  intents: ReadonlyMap<string, JsonObject>,
): View {
  const rows = names.map((name) => row(name, sets.get(name) as SetObject | undefined));
  const all = [...intents.values()] as unknown as IntentObject[];
  const lines = [
    columns(["SET", "NODES", "READY", "STATE"]),
    ...rows.map(({ cells }) => columns(cells)),
    ...all
      .filter((intent) => !isReady(intent.status?.conditions))
      .sort((a, b) => a.metadata.name.localeCompare(b.metadata.name))
      .map(describeIntent),
  ];
  return { lines, ready: rows.every((r) => r.ready) };
}

function row(name: string, set: SetObject | undefined): { cells: string[]; ready: boolean } {
  if (set === undefined) return { cells: [name, "-", "-", "not there yet"], ready: false };
  const { desired, ready, observedGeneration, conditions } = set.status ?? {};
  const current = observedGeneration === set.metadata.generation;
  const condition = conditions?.find((c) => c.type === "Ready");
  const done = current && condition?.status === "True" && (desired ?? 0) > 0;
  const state = condition === undefined ? "" : done ? condition.reason : `${condition.reason}: ${condition.message}`;
  return { cells: [name, count(desired), count(ready), state], ready: done };
}

function describeIntent(intent: IntentObject): string {
  const { state = "not observed yet", desiredMounts, readyMounts = 0, waiting } = intent.status ?? {};
  const why = waiting === undefined ? "" : `, ${waiting.reason}: ${waiting.message}`;
  return `  ${intent.metadata.name}: ${state}${desiredMounts === undefined ? "" : ` ${readyMounts}/${desiredMounts}`}${why}`;
}

function isReady(conditions: readonly Condition[] | undefined): boolean {
  return conditions?.some((c) => c.type === "Ready" && c.status === "True") ?? false;
}

function count(n: number | undefined): string {
  return n === undefined ? "-" : String(n);
}

function columns([set = "", nodes = "", ready = "", state = ""]: readonly string[]): string {
  return `${set.padEnd(16)}${nodes.padEnd(7)}${ready.padEnd(7)}${state}`;
}
