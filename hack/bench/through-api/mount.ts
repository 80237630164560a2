// Pods whose volumes come and go through a real API server.
import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { mergePatch } from "../../lib/api-client.ts";
import type { BenchCluster } from "./cluster.ts";
import { intentBody, intentName, type Kind, sourceOf, sources } from "./intents.ts";
import type { Seen } from "./seen.ts";

export interface Pods {
  readonly pods: number;
  /** Volumes of each pod: each is an intent with one mount. */
  readonly volumes: number;
  readonly kind: Kind;
  /** Milliseconds between two pods; 0 is all at once. */
  readonly intervalMs: number;
}

/**
 * Requests of the pretended controller at the same time, as src/controller/intents/write-intents.ts has it for one
 * node.
 */
const concurrency = 4;
const patienceMs = 300_000;
const path = "/apis/nodevolume.dev/v1alpha1/nodevolumeintents";

/** The names of the intents of each pod. @param round told apart from what was there before */
export function podsOf(round: string, { pods, volumes }: Pods): string[][] {
  return Array.from({ length: pods }, (_, pod) =>
    Array.from({ length: volumes }, (_, volume) => intentName(round, pod, volume)),
  );
}

/**
 * Writes the intents of all pods in their rhythm and waits for them.
 * @returns milliseconds of each pod, from when it was due until the watch showed its last intent Ready
 */
export async function mountAll(
  cluster: BenchCluster,
  seen: Seen,
  pods: readonly (readonly string[])[],
  { kind, intervalMs }: Pick<Pods, "kind" | "intervalMs">,
): Promise<number[]> {
  const names = pods.flat();
  if (kind === "local") makeSources(cluster, names);
  const begun = await arrive(pods, intervalMs, (name) =>
    call(cluster, "POST", path, { body: intentBody(name, kind, cluster.node) }),
  );
  await seen.until(`${names.length} intents to be Ready`, patienceMs, () => names.every((n) => seen.readyAt.has(n)));
  return lastOf(pods, begun, seen.readyAt);
}

/**
 * Revokes the intents in the same rhythm, and removes them once they are released.
 * @returns milliseconds of each pod, from when it was due until the watch showed its last intent Released
 */
export async function unmountAll(
  cluster: BenchCluster,
  seen: Seen,
  pods: readonly (readonly string[])[],
  { intervalMs }: Pick<Pods, "intervalMs">,
): Promise<number[]> {
  const names = pods.flat();
  const begun = await arrive(pods, intervalMs, (name) => call(cluster, "DELETE", `${path}/${name}`, {}));
  await seen.until("the intents to be Released", patienceMs, () => names.every((n) => seen.releasedAt.has(n)));
  const took = lastOf(pods, begun, seen.releasedAt);
  const body = { metadata: { finalizers: [] } };
  await arrive(pods, 0, (name) => call(cluster, "PATCH", `${path}/${name}`, { contentType: mergePatch, body }));
  await seen.until("the intents to be gone", patienceMs, () => !names.some((n) => seen.present.has(n)));
  return took;
}

/** Acts for each volume of each pod, the pods in their rhythm. @returns when each pod was due, by performance.now() */
async function arrive(
  pods: readonly (readonly string[])[],
  intervalMs: number,
  act: (name: string) => Promise<void>,
): Promise<number[]> {
  const start = performance.now();
  const due = pods.map((_, pod) => start + pod * intervalMs);
  const waiting = pods.flatMap((names, pod) => names.map((name) => ({ name, at: due[pod] ?? start })));
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const early = next.at - performance.now();
        if (early > 0) await sleep(early);
        await act(next.name);
      }
    }),
  );
  return due;
}

async function call(cluster: BenchCluster, method: string, at: string, options: object): Promise<void> {
  const answer = await cluster.controller.call(method, at, options);
  if (answer.status >= 300) throw new Error(`${method} ${at}: ${answer.status} ${String(answer.body["message"])}`);
}

function lastOf(
  pods: readonly (readonly string[])[],
  begun: readonly number[],
  at: ReadonlyMap<string, number>,
): number[] {
  return pods.map((names, pod) => Math.max(...names.map((name) => at.get(name) ?? Number.NaN)) - (begun[pod] ?? 0));
}

function makeSources({ host }: BenchCluster, names: readonly string[]): void {
  const root = `/proc/${host.pid}/root`;
  mkdirSync(`${root}${sources}`, { recursive: true });
  for (const name of names) mkdirSync(`${root}${sourceOf(name)}`, { recursive: true });
}
