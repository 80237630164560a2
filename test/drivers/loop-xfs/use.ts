import { Refusal } from "../lib/serve.ts";
import { contextKey } from "./controller.ts";
import type { Flags } from "./flags.ts";
import { attachmentKey } from "./publishing.ts";
import type { Storage } from "./storage.ts";

/** What every request to use a volume on the node brings. */
interface Use {
  readonly volumeId: string;
  readonly volumeContext: Map<string, string>;
  readonly publishContext: Map<string, string>;
}

/**
 * That this node may use the volume now, by what ControllerPublishVolume wrote down.
 * @throws Refusal if it is not published to this node, or a context is another volume's or an earlier attachment's
 */
export function useOf(storage: Storage, flags: Flags, use: Use): { readonly readOnly: boolean } {
  const context = use.volumeContext.get(contextKey) ?? use.volumeId;
  if (context !== use.volumeId) throw new Refusal("INVALID_ARGUMENT", `the volume_context is that of ${context}`);
  if (!flags.attach) return { readOnly: false };
  const attachment = storage.attachments(use.volumeId).find(({ nodeID }) => nodeID === flags.nodeID);
  if (attachment === undefined) {
    throw new Refusal("FAILED_PRECONDITION", `ControllerPublishVolume was not called for node ${flags.nodeID}`);
  }
  const given = use.publishContext.get(attachmentKey);
  if (given !== attachment.attachment) {
    throw new Refusal(
      "FAILED_PRECONDITION",
      `the publish_context is that of attachment ${given ?? "none"}, not of this one`,
    );
  }
  return attachment;
}
