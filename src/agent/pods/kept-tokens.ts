import type { PodIdentity } from "../../csi/client/pod-tokens.ts";
import type { Clock } from "../../ports.ts";
import type { MountPath } from "../model/identities.ts";
import type { IdentitySource, TokenState } from "../model/pod-identity.ts";

/**
 * The tokens that kubelet has handed over for targets of pods, each for its own target, in memory alone, until kubelet
 * unpublishes the target (decision 0041). A path names pod and volume: no other pod's target has it.
 */
export class KeptTokens implements IdentitySource {
  readonly #clock: Clock;
  readonly #byPath = new Map<MountPath, PodIdentity>();
  readonly #states = new Map<MountPath, TokenState>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** By path; changed in place. */
  get states(): ReadonlyMap<MountPath, TokenState> {
    return this.#states;
  }

  /**
   * Keeps of what kubelet has handed over what the grant names, in place of what was kept before. What is the same, or
   * names less, leaves that as it is.
   * @param audiences of the grant; undefined: its driver acts as nobody, and nothing is kept
   * @returns whether anything is otherwise now
   */
  keep(path: MountPath, identity: PodIdentity | undefined, audiences: readonly string[] | undefined): boolean {
    if (audiences === undefined) return this.drop(path);
    if (identity === undefined || identity.tokens.lacking(audiences).length > 0) return false;
    const kept = { ...identity, tokens: identity.tokens.only(audiences) };
    const before = this.#byPath.get(path);
    if (before?.serviceAccount === kept.serviceAccount && before.tokens.isSame(kept.tokens)) return false;
    const left = kept.tokens.expiresAt - this.#clock.now();
    this.#byPath.set(path, kept);
    this.#states.set(path, { fresh: true, until: this.#clock.monotonic() + left });
    return true;
  }

  of(path: MountPath, audiences: readonly string[]): PodIdentity | undefined {
    const kept = this.#byPath.get(path);
    const { until = 0 } = this.#states.get(path) ?? {};
    if (kept === undefined || kept.tokens.lacking(audiences).length > 0) return undefined;
    return this.#clock.monotonic() < until ? kept : undefined;
  }

  given(path: MountPath, identity: PodIdentity): void {
    const state = this.#states.get(path);
    if (state === undefined || this.#byPath.get(path) !== identity) return; // kubelet has brought others meanwhile
    this.#states.set(path, { ...state, fresh: false });
  }

  /** @returns whether there was anything */
  drop(path: MountPath): boolean {
    this.#states.delete(path);
    return this.#byPath.delete(path);
  }
}
