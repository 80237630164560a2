import type { Logger, System } from "../../ports.ts";
import type { NodePublishVolumeRequest, NodeUnpublishVolumeRequest } from "../gen/csi.gen.ts";
import { checkPublish, checkUnpublish } from "./check-publish.ts";
import { KeyedMutex } from "./keyed-mutex.ts";
import { hasTokensInContext, podIdentity } from "./pod-identity.ts";
import type { PodPublish, PodTarget, PodVolumes } from "./ports.ts";
import { RefusedCall } from "./refused-call.ts";

/** Dependencies of answering NodePublishVolume and NodeUnpublishVolume. */
export interface PodCallsDeps {
  readonly system: Pick<System, "clock" | "timers"> & { readonly log: Logger };
  readonly volumes: PodVolumes;
  /** kubelet's root directory, as kubelet names it. */
  readonly kubeletDir: string;
  /** @throws RefusedCall while nothing may be published, because the CSIDriver object is not as it must be */
  mayPublish(): Promise<void>;
  /** Whether tokens in a volume context are kubelet's, and no text of the pod's. */
  tokensInContext(): Promise<boolean>;
}

/** One call of kubelet's. */
export interface CallLimits {
  /** Wall time in milliseconds since the epoch; Infinity if the caller waits for ever. */
  readonly deadline: number;
  /** Aborts when the caller has gone. */
  readonly cancelled: AbortSignal;
}

/** Milliseconds that a call waits at most, and what is left for the answer: kubelet gives up after 120 s. */
const longestWaitMs = 110_000;
const answerMs = 5_000;
/** Calls of one kind under way at once; a node has a few hundred volumes of pods at most. */
const most = 1024;
/** Limit of waiting calls of one namespace, so that pods with very many volumes do not block other namespaces. */
const mostOfNamespace = 256;

/** NodePublishVolume and NodeUnpublishVolume: one at a time for each target (safety rule 19). */
export class PodCalls {
  readonly #deps: PodCallsDeps;
  readonly #turns = new KeyedMutex();
  /** Ends those that wait to publish, by target. */
  readonly #publishing = new Map<string, Set<AbortController>>();
  /** Nothing is published any more; and no call goes on. */
  readonly #ending = new AbortController();
  readonly #ended = new AbortController();
  #onIdle: () => void = () => {};
  readonly #underWay = { publish: 0, unpublish: 0 };
  /** Calls that wait to publish, by namespace. */
  readonly #ofNamespace = new Map<string, number>();

  constructor(deps: PodCallsDeps) {
    this.#deps = deps;
  }

  /** Calls under way. */
  get underWay(): { readonly publish: number; readonly unpublish: number } {
    return this.#underWay;
  }

  /** @throws RefusedCall, PodVolumeError */
  async publish(request: NodePublishVolumeRequest, limits: CallLimits): Promise<void> {
    const wanted = checkPublish(request, this.#deps.kubeletDir);
    const back = new AbortController();
    const all = this.#publishing.get(wanted.path) ?? new Set();
    const { namespace } = wanted;
    const others = this.#ofNamespace.get(namespace) ?? 0;
    if (others >= mostOfNamespace)
      throw new RefusedCall("RESOURCE_EXHAUSTED", `${others} such calls of namespace ${namespace} are under way`);
    this.#ofNamespace.set(namespace, others + 1);
    this.#publishing.set(wanted.path, all.add(back));
    try {
      await this.#deps.mayPublish();
      const whole = await this.#withIdentity(wanted, request);
      await this.#run("publish", wanted, limits, back.signal, (signal) => this.#deps.volumes.publish(whole, signal));
    } finally {
      all.delete(back);
      if (all.size === 0) this.#publishing.delete(wanted.path);
      const left = (this.#ofNamespace.get(namespace) ?? 0) - 1;
      if (left > 0) this.#ofNamespace.set(namespace, left);
      else this.#ofNamespace.delete(namespace);
    }
  }

  /** @throws RefusedCall, PodVolumeError */
  async unpublish(request: NodeUnpublishVolumeRequest, limits: CallLimits): Promise<void> {
    const target = checkUnpublish(request, this.#deps.kubeletDir);
    // NodeUnpublishVolume means that the volume is not needed any more: a waiting NodePublishVolume is ended and undone
    // first.
    for (const waiting of this.#publishing.get(target.path) ?? [])
      waiting.abort(new RefusedCall("ABORTED", "kubelet has unpublished the volume meanwhile"));
    const never = new AbortController().signal;
    await this.#run("unpublish", target, limits, never, (signal) => this.#deps.volumes.unpublish(target, signal));
  }

  /**
   * Ends all NodePublishVolume calls, and waits for NodeUnpublishVolume calls under way: kubelet may not get to retry
   * them, for example at node shutdown. Mounts stay.
   * @param longestMs milliseconds after which these are ended, too
   */
  async end(longestMs: number): Promise<void> {
    this.#ending.abort(new RefusedCall("UNAVAILABLE", "the agent ends"));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = () => this.#underWay.unpublish === 0 && resolve();
    this.#onIdle();
    const forget = this.#deps.system.timers.after(longestMs, resolve);
    await promise;
    forget();
    this.stop();
  }

  /** Ends all calls. What is mounted stays. */
  stop(): void {
    for (const one of [this.#ending, this.#ended]) one.abort(new RefusedCall("UNAVAILABLE", "the agent ends"));
  }

  async #withIdentity(wanted: PodPublish, request: NodePublishVolumeRequest): Promise<PodPublish> {
    const inContext = hasTokensInContext(request) && (await this.#deps.tokensInContext());
    const identity = podIdentity(request, wanted, inContext);
    return identity === undefined ? wanted : { ...wanted, identity };
  }

  async #run(
    kind: "publish" | "unpublish",
    target: PodTarget,
    { deadline, cancelled }: CallLimits,
    back: AbortSignal,
    action: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (this.#underWay[kind] >= most) throw new RefusedCall("RESOURCE_EXHAUSTED", `${most} such calls are under way`);
    const { clock, timers } = this.#deps.system;
    const late = new AbortController();
    const waitMs = Math.max(0, Math.min(longestWaitMs, deadline - clock.now() - answerMs));
    const over = () => late.abort(new RefusedCall("ABORTED", `not within ${Math.round(waitMs / 1000)} s`));
    const forget = timers.after(waitMs, over);
    const agentEnds = kind === "publish" ? this.#ending : this.#ended;
    const signal = AbortSignal.any([cancelled, back, late.signal, agentEnds.signal]);
    this.#underWay[kind] += 1;
    try {
      await this.#turns.take(target.path, signal, () => action(signal));
    } finally {
      this.#underWay[kind] -= 1;
      forget();
      this.#onIdle();
    }
  }
}
