import type { Attachment } from "../model/storage-objects.ts";
import type { WaitReason } from "../model/wait-reason.ts";
import type { VolumeConsumer } from "./volume-facts.ts";

/** What is to be done for one consumer. */
type Step =
  | { readonly do: "attach"; readonly again: boolean }
  | { readonly do: "grant"; readonly attachment: Attachment | undefined }
  | { readonly do: "release" };

/** The next step of one consumer of a volume, and its wait reason. */
export interface Decision {
  readonly consumer: VolumeConsumer;
  readonly step?: Step;
  /** What is waited for, or wrong; without it nothing is. */
  readonly waitReason?: WaitReason;
  /** It waits for another's turn alone: what that one waits for, all wait for. */
  readonly behind?: true;
}

/** All decisions about one CSI volume, over all nodes. */
export interface AttachPlan {
  readonly decisions: readonly Decision[];
  /** VolumeAttachments of ours that nobody uses or asks for. */
  readonly detach: readonly Attachment[];
  /** Those that stay although their intent has gone, because nothing proves that they are not in use. */
  readonly kept: readonly Attachment[];
}
