import type { PodIdentity } from "../../csi/client/pod-tokens.ts";
import type { MountPath } from "./identities.ts";

/** The state of a target's tokens as the planner sees it, without the tokens. New tokens make a new object. */
export interface TokenState {
  /** The driver has not had them yet. */
  readonly fresh: boolean;
  /** When the first of them runs out, in milliseconds of the monotonic clock. */
  readonly until: number;
}

/** What a publish for a pod needs of it, where its driver acts as the pod. */
export interface IdentitySource {
  /** Undefined if there is none, or none for one of the audiences, or it has run out. */
  of(path: MountPath, audiences: readonly string[]): PodIdentity | undefined;
  /** The driver has answered OK to a call with this very identity. */
  given(path: MountPath, identity: PodIdentity): void;
}

/** Nobody hands any over. */
export const noIdentities: IdentitySource = { of: () => undefined, given() {} };
