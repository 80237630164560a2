import type { KubeClient } from "../../kube/client/client.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import { type Left, leftOf, type Rate } from "../../kube/rate.ts";
import type { Clock } from "../../ports.ts";
import type { Attachment } from "../model/storage-objects.ts";
import { attachmentsByNode } from "./attachments-of-node.ts";

/**
 * Milliseconds that lists take, of ten of the clock's: an agent, or whoever has its token, may ask as often as it
 * likes, and the list is of all VolumeAttachments of the cluster. Reads of PersistentVolumes are not in it: an answer
 * reads those of one node alone, after a list, and each once.
 */
const share: Rate = { most: 0, refillMs: 10 };
/** What a list that failed counts for at least: the next one comes after a second. */
const leastOfFailureMs = 100;

/** What a list says. */
interface Listed {
  readonly begunAt: number;
  readonly byNode: ReadonlyMap<string, readonly Attachment[]>;
}

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
  /** Less than none until the share is kept again. */
  #left: Left | undefined;
  #isUnderWay = false;
  #last: Listed | undefined;

  constructor(deps: AttachmentListsDeps) {
    this.#deps = deps;
  }

  /**
   * What a list says, or why there is none yet: milliseconds until one may begin, or one that is under way, which is
   * said at once: its end may be told of in the next turn.
   * @param askedAt monotonic milliseconds: a list that began earlier may lack what is attached now
   */
  since(askedAt: number): Promise<Listed> | Listed | { readonly tooEarlyMs: RequeueAfter } | "underWay" {
    if (this.#last !== undefined && this.#last.begunAt >= askedAt) return this.#last;
    if (this.#isUnderWay) return "underWay";
    const begunAt = this.#deps.clock.monotonic();
    const left = leftOf(this.#left, share, begunAt);
    return left < 0 ? { tooEarlyMs: Math.ceil(-left * share.refillMs) } : this.#list(begunAt);
  }

  async #list(begunAt: number): Promise<Listed> {
    const { client, clock, onEnd } = this.#deps;
    this.#isUnderWay = true;
    let leastMs = leastOfFailureMs;
    try {
      this.#last = { begunAt, byNode: await attachmentsByNode(client) };
      leastMs = 0;
      return this.#last;
    } finally {
      this.#left = { left: -Math.max(leastMs, clock.monotonic() - begunAt), at: begunAt };
      this.#isUnderWay = false;
      onEnd();
    }
  }

  /** Frees the memory of the last list, which nobody waits for. */
  forget(): void {
    this.#last = undefined;
  }
}
