import { resource } from "../../api/names.ts";
import { classifyWriteError, isConflict } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import { mergeDiff } from "../../kube/merge-diff.ts";
import type { Logger } from "../../ports.ts";
import type { AttachStatusWriter } from "../attach/attach-status-writer.ts";
import { type Intent, isKubelets, type NodeInfo, refOf } from "../model/projections.ts";
import { runWithConcurrency } from "../util/run-with-concurrency.ts";
import { type AttachFacts, attachState } from "./attach-state.ts";
import type { ObservedIntent } from "./observed-intents.ts";

/** Dependencies of writing the observed intents of a node: those of volumes that kubelet manages. */
export interface ObserveNodeDeps {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly attachStatus: AttachStatusWriter;
  /** Whether all that this rests on was read completely and arrives now (law L8). */
  readonly complete: () => boolean;
  readonly node: (name: string) => NodeInfo | undefined;
  /** The node's intents, also those of others. */
  readonly intentsOf: (node: string) => readonly Intent[];
  /** What shall be there; nothing if nothing is to be observed. */
  readonly wanted: (node: NodeInfo, existing: ReadonlyMap<string, Intent>) => readonly ObservedIntent[];
  readonly facts: (intent: Intent) => AttachFacts;
  readonly upsert: (raw: unknown) => void;
  /** Of an intent that is gone, as the watch will say. */
  readonly forget: (intent: Intent) => void;
}

/** Writes of one node at a time. */
const writesAtOnce = 4;

/**
 * Makes the intents of what kubelet manages on a node what they shall be, and says in `status.attach` what is waited
 * for. Nothing of it holds anything: no grant, no finalizer, and to delete one does nothing on the node (safety rule
 * 27).
 * @returns milliseconds after which to look again, if time alone may change something
 */
export async function observeNode(deps: ObserveNodeDeps, name: string): Promise<RequeueAfter | undefined> {
  if (!deps.complete()) return undefined;
  const existing = new Map(deps.intentsOf(name).flatMap((one) => (isKubelets(one) ? [[one.metadata.name, one]] : [])));
  const node = deps.node(name);
  // Without a Node nobody is told: its pods go with it, and then these intents.
  const wanted = node === undefined ? [] : deps.wanted(node, existing);
  const kept = new Set(wanted.map((one) => one.name));
  const gone = [...existing.values()].filter(({ metadata }) => !kept.has(metadata.name));
  const errors: unknown[] = [];
  let againInMs: number | undefined;
  const attempt = async (act: () => Promise<RequeueAfter | undefined>): Promise<void> => {
    try {
      const inMs = await act();
      if (inMs !== undefined) againInMs = Math.min(againInMs ?? inMs, inMs);
    } catch (error) {
      errors.push(error);
    }
  };
  const worst = () => errors[0];
  await runWithConcurrency(
    writesAtOnce,
    wanted,
    (one) => attempt(() => bring(deps, one, existing.get(one.name))),
    worst,
  );
  await runWithConcurrency(writesAtOnce, gone, (one) => attempt(() => remove(deps, one)), worst);
  if (errors.length > 0) throw errors.find((error) => classifyWriteError(error) === "uncertain") ?? errors[0];
  return againInMs;
}

async function bring(
  deps: ObserveNodeDeps,
  wanted: ObservedIntent,
  found: Intent | undefined,
): Promise<RequeueAfter | undefined> {
  const intent = found === undefined ? await create(deps, wanted) : await update(deps, wanted, found);
  if (intent === undefined || intent.metadata.deletionTimestamp !== undefined) return undefined;
  const { waitReason, volumeAttachment } = attachState(intent, deps.facts(intent));
  return deps.attachStatus.write(intent, waitReason, volumeAttachment);
}

async function create(deps: ObserveNodeDeps, { name, labels, spec }: ObservedIntent): Promise<Intent | undefined> {
  const { client, log, upsert } = deps;
  try {
    const created = await client.create<Intent>(resource.intents, { metadata: { name, labels }, spec } as Intent);
    log.info("intent written", { intent: name, verb: "create" });
    upsert(created);
    return { ...created, status: created.status ?? {} };
  } catch (error) {
    if (!isConflict(error)) throw error;
    const existing = await client.get<Intent>(resource.intents, { name });
    if (existing !== undefined) upsert(existing);
    return undefined;
  }
}

async function update(deps: ObserveNodeDeps, { spec, labels }: ObservedIntent, found: Intent): Promise<Intent> {
  const changed = mergeDiff(found.spec, { ...found.spec, ...spec });
  const labelled = mergeDiff(found.metadata.labels ?? {}, { ...found.metadata.labels, ...labels });
  if (changed === undefined && labelled === undefined) return found;
  const patch = { ...(labelled && { metadata: { labels: labelled } }), ...(changed && { spec: changed }) };
  const answer = await deps.client.mergePatch<Intent>(resource.intents, refOf(found), patch);
  deps.log.info("intent written", { intent: found.metadata.name, verb: "patch" });
  deps.upsert(answer);
  return { ...answer, status: answer.status ?? {} };
}

async function remove(deps: ObserveNodeDeps, intent: Intent): Promise<undefined> {
  await deps.client.delete(resource.intents, refOf(intent));
  deps.log.info("intent written", { intent: intent.metadata.name, verb: "delete" });
  deps.forget(intent);
}
