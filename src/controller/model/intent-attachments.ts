import type { Intent } from "./projections.ts";
import type { Attachment } from "./storage-objects.ts";

/** What outlives the agent's acknowledgement, and must be gone before the finalizer is. */
export interface IntentAttachments {
  /** The VolumeAttachment that the intent rests on, as the server has it now; undefined if there is none. */
  read(intent: Intent): Promise<Attachment | undefined>;
  /** Deletes this very version of it. */
  remove(attachment: Attachment): Promise<void>;
  /** Takes our marks off its claim, if nobody else of ours uses the volume. */
  release(intent: Intent): Promise<void>;
}
