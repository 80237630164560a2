import type { KubeClient } from "../../kube/client/client.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { Clock } from "../../ports.ts";
import type { Attachment } from "../model/storage-objects.ts";
import { attachmentsByNode } from "./attachments-of-node.ts";

/**
 * Lists take so many parts of the time at most, one of ten: an agent, or whoever has its token, may ask as often as it
 * likes, and the list is of all VolumeAttachments of the cluster.
 */
const parts = 10;
/** Milliseconds until the next list after one that failed. */
const afterFailureMs = 1_000;

/** What a list says, or why there is none yet: milliseconds until one may begin, or one that is under way. */
export type ListedSince =
  | { readonly byNode: ReadonlyMap<string, readonly Attachment[]> }
  | { readonly tooEarlyMs: RequeueAfter }
  | "underWay";

/** Dependencies of listing all VolumeAttachments. */
export interface AttachmentListsDeps {
  readonly client: KubeClient;
  readonly clock: Pick<Clock, "monotonic">;
  /** A list has ended, well or not: for those who were told that it is under way. */
  readonly onEnd: () => void;
}

/** Lists of all VolumeAttachments. One answers everybody who asked before it began. */
export class AttachmentLists {
  readonly #deps: AttachmentListsDeps;
  /** Monotonic milliseconds before which no list begins. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #isUnderWay = false;
  #last: { readonly begunAt: number; readonly byNode: ReadonlyMap<string, readonly Attachment[]> } | undefined;

  constructor(deps: AttachmentListsDeps) {
    this.#deps = deps;
  }

  /**
   * @param askedAt monotonic milliseconds: a list that began earlier may lack what is attached now
   * @throws what the list throws
   */
  async since(askedAt: number): Promise<ListedSince> {
    if (this.#last !== undefined && this.#last.begunAt >= askedAt) return this.#last;
    if (this.#isUnderWay) return "underWay";
    const { client, clock, onEnd } = this.#deps;
    const begunAt = clock.monotonic();
    if (begunAt < this.#notBefore) return { tooEarlyMs: this.#notBefore - begunAt };
    this.#isUnderWay = true;
    let restMs = afterFailureMs;
    try {
      this.#last = { begunAt, byNode: await attachmentsByNode(client) };
      restMs = 0;
      return this.#last;
    } finally {
      const now = clock.monotonic();
      this.#notBefore = now + Math.max(restMs, (now - begunAt) * (parts - 1));
      this.#isUnderWay = false;
      onEnd();
    }
  }

  /** Frees the memory of the last list, which nobody waits for. */
  forget(): void {
    this.#last = undefined;
  }
}
