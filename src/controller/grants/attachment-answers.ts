import type { KubeClient } from "../../kube/client/client.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import { sameJson } from "../../kube/same-json.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { Clock, Logger } from "../../ports.ts";
import type { Intent } from "../model/projections.ts";
import { type VolumeID, type VolumeKey, volumeKey } from "../model/volume-key.ts";
import { AttachmentLists } from "./attachment-lists.ts";
import { attachedVolumesOf, type ReadVolumes } from "./attachments-of-node.ts";
import { patchIntent } from "./patch-intent.ts";

/** Of the key of an intent whose agent asks: no plugin of kubelet's is called so. */
const driver = "kubernetes.io/attachments-of-node";

/**
 * Milliseconds after which an answer that may keep a volume from its disk is looked at again: at first, and at most.
 * They double while nothing changes, as the volume may fail for another reason, for good.
 */
const againMs = { first: 30_000, most: 300_000 } as const;
/** What the CRD allows. A node with more gets no answer, and chooses no disk. */
const mostVolumes = 256;

/** Dependencies of answering agents that ask which volumes are attached to their node (decision 0119). */
export interface AttachmentAnswersDeps {
  readonly client: KubeClient;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Logger;
  readonly intents: ObjectStore<Intent>;
  readonly upsertIntent: (raw: unknown) => void;
  /** An intent is due, by its key. */
  readonly onDue: (key: VolumeKey) => void;
}

/** Answers agents that ask which volumes are attached to their node. */
export interface AttachmentAnswers {
  /** Whether a key is that of an intent whose agent asks. */
  isKey(id: VolumeID): boolean;
  reconcile(id: VolumeID): Promise<RequeueAfter | undefined>;
  all(): void;
  /** Forgets what was read in an earlier term. */
  forget(): void;
  stop(): void;
}

/** What is remembered of an intent whose answer is looked at again. */
interface Answered {
  readonly read: ReadVolumes;
  readonly againMs: RequeueAfter;
}

/**
 * Writes into the grant what the VolumeAttachments of the node name, listed after the agent has asked: those of the
 * disks that it has seen are among them. As long as it asks, and something is attached, the answer follows the API.
 */
export function createAttachmentAnswers(deps: AttachmentAnswersDeps): AttachmentAnswers {
  const { client, clock, intents } = deps;
  /**
   * By name of the intent: what is asked and not answered yet, since when, in monotonic milliseconds, and whether it
   * waits for the end of a list that had begun before.
   */
  const asked = new Map<string, { readonly request: string; readonly at: number; waits: boolean }>();
  const lists = new AttachmentLists({ client, clock, onEnd: wake });
  /** By name of the intent; only of those that are due again. */
  const answered = new Map<string, Answered>();

  /** @param renews whether an answer that names something is due, too: the first time that this process sees it */
  function see(intent: Intent, renews: boolean): void {
    const request = askedBy(intent);
    const answer = intent.spec.grant?.attachments;
    if (request === undefined) return;
    if (request === answer?.request && !(renews && answer.volumes.length > 0)) return;
    due(intent.metadata.name);
  }

  function due(name: string): void {
    deps.onDue(volumeKey({ driver, volumeHandle: name }));
  }

  function wake(): void {
    for (const [name, one] of asked) {
      if (one.waits) due(name);
      one.waits = false;
    }
  }

  function askedBefore(name: string, request: string) {
    const before = asked.get(name);
    if (before?.request === request) return before;
    const now = { request, at: clock.monotonic(), waits: false };
    asked.set(name, now);
    return now;
  }

  function settle(name: string): void {
    asked.delete(name);
    if (asked.size === 0) lists.forget();
  }

  /** Answers, and remembers what the next look at the answer needs. */
  async function answer(intent: Intent, request: string): Promise<RequeueAfter | undefined> {
    const { name } = intent.metadata;
    const { nodeName } = intent.spec;
    const before = answered.get(name);
    const later = before === undefined ? againMs.first : Math.min(before.againMs * 2, againMs.most);
    const one = askedBefore(name, request);
    const list = lists.since(one.at);
    one.waits = list === "underWay";
    if (list === "underWay") return undefined;
    const listed = await list;
    if ("tooEarlyMs" in listed) return listed.tooEarlyMs;
    const found = listed.byNode.get(nodeName) ?? [];
    if (found.length > mostVolumes) {
      const counts = { volumes: found.length, most: mostVolumes };
      const message = "no answer about attached disks: the node has too many VolumeAttachments";
      deps.log.warn(message, { node: nodeName, intent: name, ...counts });
      answered.set(name, { read: new Map(), againMs: later });
      settle(name);
      return later;
    }
    const { volumes, read } = await attachedVolumesOf(client, found, before?.read ?? new Map());
    const attachments = { request, volumes: [...volumes] };
    const same = sameJson(attachments, intent.spec.grant?.attachments);
    // Only if the agent still asks what it answers, under the same grant.
    const isDue = (now: Intent) => now.spec.grant?.id === intent.spec.grant?.id && askedBy(now) === request;
    if (!same) await patchIntent(deps, intent, isDue, { grant: { attachments } });
    settle(name);
    answered.delete(name);
    if (volumes.length === 0) return undefined;
    answered.set(name, { read, againMs: same ? later : againMs.first });
    return same ? later : againMs.first;
  }

  const cancel = intents.subscribe({ onAdd: (intent) => see(intent, true), onUpdate: (_, after) => see(after, false) });

  return {
    isKey: (id) => id.driver === driver,
    async reconcile({ volumeHandle: name }) {
      const intent = intents.get(name);
      const request = intent && askedBy(intent);
      if (intent !== undefined && request !== undefined) return answer(intent, request);
      answered.delete(name);
      settle(name);
      return undefined;
    },
    all() {
      for (const intent of intents.list()) see(intent, true);
    },
    forget() {
      answered.clear();
      asked.clear();
      lists.forget();
    },
    stop: cancel,
  };
}

/** PURE. What an agent asks with; undefined if it does not, or has nothing to ask for any more. */
function askedBy({ metadata, spec, status }: Intent): string | undefined {
  if (metadata.deletionTimestamp !== undefined || spec.grant === undefined || spec.mode !== "Manage") return undefined;
  return status.observedUID === metadata.uid ? status.attachmentsRequest : undefined;
}
