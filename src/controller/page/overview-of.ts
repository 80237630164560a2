import { cut } from "../../api/conditions.ts";
import type { Intent, SetEntry } from "../model/projections.ts";
import { labelledSets } from "../model/volume-identity.ts";
import { lineOf, runs, type Weights, weightOf } from "./lines.ts";
import { type NodeKnown, nodeTrouble } from "./node-troubles.ts";
import { type Cause, type Overview, type Row, type Standing, standings, type Trouble } from "./overview.ts";
import { setTroubles } from "./set-troubles.ts";
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
  const draft = new Draft(input);
  for (const intent of input.intents) {
    draft.addVolume(intent);
    yield;
  }
  for (const [at, name] of input.nodes.entries()) {
    draft.addNode(at, name);
    yield;
  }
  for (const set of input.sets) {
    draft.addSet(set);
    yield;
  }
  return draft.overview();
}

/** An overview that is being made: first all volumes, then nodes, then sets. */
class Draft {
  readonly #input: OverviewInput;
  readonly #places: ReadonlyMap<string, number>;
  readonly #rows = new Map<string, Growing>();
  readonly #counts = Object.fromEntries(standings.map((standing) => [standing, 0])) as { [of in Standing]: number };
  readonly #volumes: number[];
  readonly #ready: number[];
  readonly #worst: Weights;
  readonly #troubles: Trouble[] = [];
  /** Nodes with a trouble of a set, by "set\0node". */
  readonly #troubled = new Set<string>();
  /** What is said of volumes of which nobody can say anything, by the place of their node. */
  readonly #silent = new Map<number, Judged>();
  readonly #orphaned: Uint8Array;
  #orphans = 0;
  #badNodes = 0;
  #badSets = 0;

  constructor(input: OverviewInput) {
    const { nodes } = input;
    this.#input = input;
    this.#places = new Map(nodes.map((name, at) => [name, at]));
    [this.#volumes, this.#ready] = [nodes.map(() => 0), nodes.map(() => 0)];
    [this.#worst, this.#orphaned] = [new Uint8Array(nodes.length), new Uint8Array(nodes.length)];
    for (const { metadata } of input.sets) this.#row("set", metadata.name);
  }

  #row(kind: Row["kind"], name: string): Growing {
    const key = `${kind}/${name}`;
    const weights = () => new Uint8Array(this.#input.nodes.length);
    const row = this.#rows.get(key) ?? { kind, name, weights: weights(), volumes: 0, ready: 0 };
    this.#rows.set(key, row);
    return row;
  }

  #rowsOf({ spec }: Intent, names: readonly string[]): Growing[] {
    if (names.length > 0) return names.map((name) => this.#row("set", name));
    return [
      spec.observed === undefined ? this.#row("pods", "claims of pods") : this.#row("kubelet", "kubelet's volumes"),
    ];
  }

  addVolume(intent: Intent): void {
    const at = this.#places.get(intent.spec.nodeName);
    if (at === undefined) return; // it came while this was being made, and is in the next one
    const said = standingOf(intent);
    const weight = weightOf(said.standing);
    const isReady = Number(said.standing === "ready");
    const names = labelledSets(intent.metadata).sort();
    this.#counts[said.standing] += 1;
    this.#volumes[at] = (this.#volumes[at] ?? 0) + 1;
    this.#worst[at] = Math.max(this.#worst[at] ?? 0, weight);
    this.#ready[at] = (this.#ready[at] ?? 0) + isReady;
    for (const row of this.#rowsOf(intent, names)) {
      row.volumes += 1;
      row.ready += isReady;
      row.weights[at] = Math.max(row.weights[at] ?? 0, weight);
    }
    // Of a silent agent the node is the trouble, and not each of its volumes.
    if (said.standing === "unknown") this.#silent.set(at, said);
    else if (said.standing !== "ready") {
      const { name } = intent.metadata;
      const title = intent.spec.volumeName;
      this.#troubles.push({ kind: "volume", node: at, name, title, sets: names, ...told(said) });
      for (const set of names) this.#troubled.add(`${set}\0${intent.spec.nodeName}`);
    }
  }

  addNode(at: number, name: string): void {
    const known = { ...this.#input.known(name), volumes: this.#volumes[at] ?? 0 };
    const said = nodeTrouble(known) ?? this.#silent.get(at);
    if (said !== undefined) {
      this.#badNodes += 1;
      this.#worst[at] = Math.max(this.#worst[at] ?? 0, weightOf(said.standing));
      this.#troubles.push({ kind: "node", node: at, name, title: name, sets: [], ...told(said) });
    }
    for (const { path, reason, since } of known.state?.orphans ?? []) {
      this.#orphaned[at] = 1;
      const message = `${cut(path, longestMessage)} is still there, and nothing requires it`;
      const why = { state: "orphan", reason, message, ...(since !== undefined && { since }) } as const;
      this.#troubles.push({ kind: "orphan", node: at, name: path, title: cut(path, 80), sets: [], ...why });
    }
    this.#orphans += known.state?.orphaned ?? 0;
  }

  addSet(set: SetEntry): void {
    const { name } = set.metadata;
    const found = setTroubles(set, (node) => this.#troubled.has(`${name}\0${node}`));
    if (found.length > 0) this.#badSets += 1;
    for (const { node, ...said } of found) {
      const at = node === undefined ? undefined : this.#places.get(node);
      const place = at === undefined ? {} : { node: at };
      this.#troubles.push({ kind: "set", ...place, name, title: name, sets: [name], ...told(said) });
    }
  }

  overview(): Overview {
    const { version, stale, nodes } = this.#input;
    const troubles = this.#troubles.sort(worstFirst);
    const all: { readonly [standing in Standing]: number } = this.#counts;
    const volumes = this.#volumes.reduce((sum, count) => sum + count, 0);
    const rows = [...this.#rows.values()].sort(worstRowFirst).map(asRow);
    return {
      version,
      ...(stale !== undefined && { stale }),
      totals: { ...all, volumes, orphans: this.#orphans, badNodes: this.#badNodes, badSets: this.#badSets },
      nodes,
      volumes: this.#volumes,
      ready: this.#ready,
      line: lineOf(this.#worst),
      rows: [...rows, ...orphanRow(this.#orphaned, this.#orphans)],
      troubles: troubles.slice(0, mostTroubles),
      omitted: Math.max(0, troubles.length - mostTroubles),
      causes: causesOf(troubles),
    };
  }
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
