import { finalizer, resource, setLabelPrefix } from "../../api/names.ts";
import { isCompared, isOfNodeItself } from "../../api/source-traits.ts";
import type { IntentMount, NodeVolumeIntentSpec, VolumeSource } from "../../api/types.gen.ts";
import { messageOf } from "../../errors.ts";
import { ApiError, classifyWriteError, isConflict } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { Logger, Random } from "../../ports.ts";
import { type Intent, refOf } from "../model/projections.ts";
import { type IntentName, intentNameOf, labelledSets } from "../model/volume-identity.ts";
import { runWithConcurrency } from "../util/run-with-concurrency.ts";
import type { IntentWrite } from "./diff-intents.ts";

/** Dependencies of writing intents. */
export interface WriteIntentsDeps {
  readonly client: KubeClient;
  readonly random: Random;
  readonly log: Logger;
  /** Takes the server's answer into the store, so that the next decision sees it. */
  readonly upsert: (raw: unknown) => void;
}

/** What came of one write: the server's words if it refused it for good. */
export type OnWritten = (intent: IntentName, refusal: string | undefined) => void;

/**
 * Intents of one node that are created at the same time: a node with many volumes is not told of one after the other.
 */
const createdAtOnce = 4;

/**
 * Carries the writes out in their order, but for creations that follow each other, which take nothing from anybody:
 * some of them at the same time. One that the server refuses holds up what would take something from the same sets,
 * because new comes before old, and nothing else: other sets have nothing to do with it. Anything but a refusal ends
 * the run at once: the next one starts from what is so then. A patch before a deletion hands its version on to it.
 * @throws the first error after which it is not clear what is so; the first, if it is clear after all of them
 */
export async function writeIntents(
  deps: WriteIntentsDeps,
  writes: readonly IntentWrite[],
  onWritten: OnWritten,
): Promise<void> {
  const newer = new Map<string, Intent>();
  const held = new Set<string>();
  const errors: unknown[] = [];
  const carryOut = async (write: IntentWrite): Promise<void> => {
    if (takesFrom(write).some((set) => held.has(set))) return;
    const name = nameOf(write);
    try {
      const answer = await writeOne(deps, write, newer.get(name));
      deps.log.info("intent written", { intent: name, verb: write.verb });
      onWritten(name, undefined);
      if (answer === undefined) return;
      newer.set(name, answer);
      deps.upsert(answer);
    } catch (error) {
      const refused = error instanceof ApiError && classifyWriteError(error) === "final";
      if (refused) onWritten(name, messageOf(error));
      else if (!isConflict(error)) throw worstOf([...errors, error]);
      errors.push(error);
      for (const set of setsOf(write)) held.add(set);
    }
  };
  for (const together of grouped(writes)) await runWithConcurrency(createdAtOnce, together, carryOut, worstOf);
  if (errors.length > 0) throw worstOf(errors);
}

function worstOf(errors: readonly unknown[]): unknown {
  return errors.find((error) => classifyWriteError(error) === "uncertain") ?? errors[0];
}

/** Creations that follow each other, and each other write by itself. */
function grouped(writes: readonly IntentWrite[]): IntentWrite[][] {
  const groups: IntentWrite[][] = [];
  for (const write of writes) {
    const last = groups.at(-1);
    if (write.verb === "create" && last?.[0]?.verb === "create") last.push(write);
    else groups.push([write]);
  }
  return groups;
}

/** PURE. The name of the intent that a write is about. */
export function nameOf(write: IntentWrite): IntentName {
  return write.verb === "create" ? write.name : intentNameOf(write.intent);
}

/**
 * The sets that a write gives something to or takes something from. Pods that come and go are none of their mounts'
 * concern, as a rollout does not count them; a set's first pod is, as the set must not go while its label is on the
 * way.
 */
export function setsOf(write: IntentWrite): Set<string> {
  const mounts = isOfPodsAlone(write) ? [] : [...mountsBefore(write), ...(mountsAfter(write) ?? [])];
  return new Set([...mounts.map((mount) => mount.requester.name), ...labelledBy(write), ...swappingBy(write)]);
}

/** The sets of an intent that the node itself uses: no mount says whose it is. */
function swappingBy(write: IntentWrite): string[] {
  return write.verb !== "create" && isOfNodeItself(write.intent.spec) ? labelledSets(write.intent.metadata) : [];
}

function isOfPodsAlone(write: IntentWrite): boolean {
  if (write.verb !== "patch" || write.needsGrant) return false;
  const { spec = {}, metadata = {} } = write.patch as { spec?: object; metadata?: object };
  return Object.keys(spec).every((key) => key === "pods") && Object.keys(metadata).every((key) => key === "labels");
}

/** The sets whose labels a write puts on an intent. */
function labelledBy(write: IntentWrite): string[] {
  const { labels = {} } =
    write.verb === "create"
      ? write
      : write.verb === "patch"
        ? ((write.patch as { metadata?: { labels?: { [key: string]: string | null } } }).metadata ?? {})
        : {};
  const put = Object.entries(labels).filter(([key, value]) => value !== null && key.startsWith(setLabelPrefix));
  return put.map(([key]) => key.slice(setLabelPrefix.length));
}

/** The sets that lose a mount by a write. */
function takesFrom(write: IntentWrite): string[] {
  const after = mountsAfter(write);
  const stays = ({ name, path }: IntentMount) => after?.some((mount) => mount.name === name && mount.path === path);
  const lost = mountsBefore(write).filter((mount) => write.verb === "delete" || (after !== undefined && !stays(mount)));
  return [...lost.map((mount) => mount.requester.name), ...(write.verb === "delete" ? swappingBy(write) : [])];
}

function mountsBefore(write: IntentWrite): readonly IntentMount[] {
  return write.verb === "create" ? [] : write.intent.spec.mounts;
}

/** undefined: they stay as they are, or there are none. */
function mountsAfter(write: IntentWrite): readonly IntentMount[] | undefined {
  if (write.verb === "create") return write.spec.mounts;
  if (write.verb === "delete") return undefined;
  const { spec } = write.patch as { spec?: { mounts?: readonly IntentMount[] } };
  return spec?.mounts;
}

async function writeOne(deps: WriteIntentsDeps, write: IntentWrite, newer: Intent | undefined) {
  const { client } = deps;
  switch (write.verb) {
    case "create":
      return create(deps, write);
    case "patch": {
      const spec = "spec" in write.patch ? write.patch.spec : undefined;
      const patch = write.needsGrant
        ? { ...write.patch, spec: { ...(spec as object), ...grant(deps, write.intent.spec.source) } }
        : write.patch;
      return client.mergePatch<Intent>(resource.intents, refOf(write.intent), patch);
    }
    case "delete":
      return client.delete<Intent>(resource.intents, refOf(newer ?? write.intent));
  }
}

async function create(deps: WriteIntentsDeps, write: Extract<IntentWrite, { verb: "create" }>): Promise<Intent> {
  const { client, upsert } = deps;
  const spec: NodeVolumeIntentSpec = { ...write.spec, ...(write.needsGrant && grant(deps, write.spec.source)) };
  const metadata: Intent["metadata"] = { name: write.name, labels: { ...write.labels }, finalizers: [finalizer.inUse] };
  try {
    return await client.create<Intent>(resource.intents, { metadata, spec } as Intent);
  } catch (error) {
    // An earlier attempt came through unanswered, or the watch is late: look before the next one.
    const existing = isConflict(error) ? await client.get<Intent>(resource.intents, { name: write.name }) : undefined;
    if (existing !== undefined) upsert(existing);
    throw error;
  }
}

/** A new grant, of a source that needs no attachment: it is given with the intent. */
function grant({ random }: WriteIntentsDeps, source: VolumeSource) {
  return { grant: { id: random.uuid(), ...(isCompared(source) && { disk: "" }) } };
}
