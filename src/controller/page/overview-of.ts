import { cut } from "../../api/conditions.ts";
import type { Intent, SetEntry } from "../model/projections.ts";
import { lineOf, runs, type Weights, weightOf } from "./lines.ts";
import { type NodeKnown, nodeTrouble } from "./node-troubles.ts";
import type { Cause, Overview, Row, Standing, Totals, Trouble } from "./overview.ts";
import { standings } from "./overview.ts";
import { setTroubles } from "./set-troubles.ts";
import { setsOf } from "./sets-of.ts";
import { type Judged, standingOf } from "./standing-of.ts";

/** Inputs of the overview. */
export interface OverviewInput {
  readonly version: string;
  readonly stale: string | undefined;
  /** In the order in which they are shown. */
  readonly nodes: readonly string[];
  readonly intents: Iterable<Intent>;
  readonly sets: readonly SetEntry[];
  readonly known: (node: string) => Omit<NodeKnown, "volumes">;
}

/** Limit of entries that are sent to the page; beyond it there are only the causes. */
export const mostTroubles = 1_000;
const longestMessage = 300;

/** share-2 before share-10. */
export const inPeoplesOrder = new Intl.Collator("en", { numeric: true });

interface Growing {
  readonly kind: Row["kind"];
  readonly name: string;
  readonly weights: Weights;
  volumes: number;
  ready: number;
}

/** PURE. The overview, in steps: a large cluster has hundreds of thousands of volumes. */
export function* overviewOf(input: OverviewInput): Generator<void, Overview> {
  const { nodes, sets } = input;
  const places = new Map(nodes.map((name, at) => [name, at]));
  const rows = new Map<string, Growing>();
  const counts = Object.fromEntries(standings.map((standing) => [standing, 0])) as { [standing in Standing]: number };
  const [volumes, ready] = [nodes.map(() => 0), nodes.map(() => 0)];
  const worst: Weights = new Uint8Array(nodes.length);
  const troubles: Trouble[] = [];
  /** Nodes with a trouble of a set, by "set\0node". */
  const troubled = new Set<string>();
  /** What is said of volumes of which nobody can say anything, by the place of their node. */
  const silent = new Map<number, Judged>();

  const rowOf = (kind: Row["kind"], name: string) => {
    const key = `${kind}/${name}`;
    const row = rows.get(key) ?? { kind, name, weights: new Uint8Array(nodes.length), volumes: 0, ready: 0 };
    rows.set(key, row);
    return row;
  };
  for (const { metadata } of sets) rowOf("set", metadata.name);

  for (const intent of input.intents) {
    const at = places.get(intent.spec.nodeName);
    if (at === undefined) continue; // it came while this was being made, and is in the next one
    const said = standingOf(intent);
    const weight = weightOf(said.standing);
    const names = setsOf(intent);
    counts[said.standing] += 1;
    volumes[at] = (volumes[at] ?? 0) + 1;
    worst[at] = Math.max(worst[at] ?? 0, weight);
    if (said.standing === "ready") ready[at] = (ready[at] ?? 0) + 1;
    for (const row of rowsOf(intent, names)) {
      row.volumes += 1;
      if (said.standing === "ready") row.ready += 1;
      row.weights[at] = Math.max(row.weights[at] ?? 0, weight);
    }
    // Of a silent agent the node is the trouble, and not each of its volumes.
    if (said.standing === "unknown") silent.set(at, said);
    else if (said.standing !== "ready") {
      const { metadata, spec } = intent;
      troubles.push({
        kind: "volume",
        node: at,
        name: metadata.name,
        title: spec.volumeName,
        sets: names,
        ...told(said),
      });
      for (const name of names) troubled.add(`${name}\0${intent.spec.nodeName}`);
    }
    yield;
  }

  function rowsOf({ spec }: Intent, names: readonly string[]): Growing[] {
    if (names.length > 0) return names.map((name) => rowOf("set", name));
    return [spec.observed === undefined ? rowOf("pods", "claims of pods") : rowOf("kubelet", "kubelet's volumes")];
  }

  let [orphans, badNodes] = [0, 0];
  const orphaned = new Uint8Array(nodes.length);
  for (const [at, name] of nodes.entries()) {
    const known = { ...input.known(name), volumes: volumes[at] ?? 0 };
    const said = nodeTrouble(known) ?? silent.get(at);
    if (said !== undefined) {
      badNodes += 1;
      worst[at] = Math.max(worst[at] ?? 0, weightOf(said.standing));
      troubles.push({ kind: "node", node: at, name, title: name, sets: [], ...told(said) });
    }
    for (const { path, reason, since } of known.state?.orphans ?? []) {
      orphaned[at] = 1;
      const message = `${cut(path, longestMessage)} is still there, and nothing requires it`;
      const why = { reason, message, ...(since !== undefined && { since }) };
      troubles.push({ kind: "orphan", state: "orphan", node: at, name: path, title: cut(path, 80), sets: [], ...why });
    }
    orphans += known.state?.orphaned ?? 0;
    yield;
  }

  let badSets = 0;
  for (const set of sets) {
    const { name } = set.metadata;
    const found = setTroubles(set, (node) => troubled.has(`${name}\0${node}`));
    if (found.length > 0) badSets += 1;
    for (const { node, ...said } of found) {
      const at = node === undefined ? undefined : places.get(node);
      troubles.push({
        kind: "set",
        ...(at !== undefined && { node: at }),
        name,
        title: name,
        sets: [name],
        ...told(said),
      });
    }
    yield;
  }

  troubles.sort(worstFirst);
  const all = counts as Totals;
  const total = volumes.reduce((sum, count) => sum + count, 0);
  return {
    version: input.version,
    ...(input.stale !== undefined && { stale: input.stale }),
    totals: { ...all, volumes: total, orphans, badNodes, badSets },
    nodes,
    volumes,
    ready,
    line: lineOf(worst),
    rows: [...[...rows.values()].sort(worstRowFirst).map(asRow), ...orphanRow(orphaned, orphans)],
    troubles: troubles.slice(0, mostTroubles),
    omitted: Math.max(0, troubles.length - mostTroubles),
    causes: causesOf(troubles),
  };
}

function told({ standing, reason, message, since }: Judged) {
  return { state: standing, reason, message: cut(message, longestMessage), ...(since !== undefined && { since }) };
}

function asRow({ kind, name, volumes, ready, weights }: Growing): Row {
  return { kind, name, volumes, ready, line: lineOf(weights) };
}

function orphanRow(orphaned: Uint8Array, orphans: number): Row[] {
  if (orphans === 0) return [];
  const line = runs(orphaned.length, (at) => (orphaned[at] === 1 ? "x" : "."));
  return [{ kind: "orphans", name: "orphans", volumes: orphans, ready: 0, line }];
}

function worstRowFirst(a: Growing, b: Growing): number {
  const worst = ({ weights }: Growing) => weights.reduce((one, other) => Math.max(one, other), 0);
  return worst(b) - worst(a) || inPeoplesOrder.compare(a.name, b.name);
}

const order: readonly Trouble["state"][] = [
  "blocked",
  "unknown",
  "drifted",
  "waiting",
  "orphan",
  "differs",
  "suspended",
];

/** By what it is, then the newest first. */
function worstFirst(a: Trouble, b: Trouble): number {
  const [newer, older] = [b.since ?? "", a.since ?? ""];
  if (a.state !== b.state) return order.indexOf(a.state) - order.indexOf(b.state);
  if (newer !== older) return newer < older ? -1 : 1;
  return (a.node ?? -1) - (b.node ?? -1) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

function causesOf(troubles: readonly Trouble[]): Cause[] {
  const found = new Map<string, { state: Trouble["state"]; reason: string; count: number }>();
  for (const { state, reason } of troubles) {
    const cause = found.get(`${state} ${reason}`) ?? { state, reason, count: 0 };
    cause.count += 1;
    found.set(`${state} ${reason}`, cause);
  }
  const weight = ({ state }: Cause) => order.indexOf(state);
  return [...found.values()].sort((a, b) => weight(a) - weight(b) || b.count - a.count);
}
