import type { Intent } from "../projections.ts";
import { attachmentName } from "./attachment-name.ts";
import type { VolumeID } from "./volume-key.ts";

/**
 * What was written and not seen yet, or has had no answer: it counts as done until the watch, or the server itself, says
 * what is so. Without that a decision on an older view could give one volume to two nodes.
 */
export interface Pending {
  granting(intent: Intent): boolean;
  beginGrant(intent: Intent): void;
  /** It is certain that nothing was written, or the store shows it. */
  endGrant(intent: Intent): void;
  beginAttach(id: VolumeID, node: string): void;
  endAttach(id: VolumeID, node: string): void;
  /** Nodes for which a VolumeAttachment of the volume may have been written that `seen` does not have. */
  attaching(id: VolumeID, seen: (attachment: string) => boolean): Set<string>;
  /** VolumeAttachments of a driver on a node that may have been written. */
  attachingOn(driver: string, node: string): Set<string>;
}

export function createPending(): Pending {
  const grants = new Map<string, string>();
  /** By name. */
  const attachments = new Map<string, VolumeID & { readonly node: string }>();
  return {
    granting({ metadata, spec }) {
      if (grants.get(metadata.name) !== metadata.uid) return false;
      if (spec.grant === undefined) return true;
      grants.delete(metadata.name);
      return false;
    },
    beginGrant: ({ metadata }) => void grants.set(metadata.name, metadata.uid ?? ""),
    endGrant: ({ metadata }) => void grants.delete(metadata.name),
    beginAttach(id, node) {
      attachments.set(attachmentName(id.driver, id.volumeHandle, node), { ...id, node });
    },
    endAttach: (id, node) => void attachments.delete(attachmentName(id.driver, id.volumeHandle, node)),
    attaching(id, seen) {
      const nodes = new Set<string>();
      for (const [name, one] of attachments) {
        if (one.driver !== id.driver || one.volumeHandle !== id.volumeHandle) continue;
        if (seen(name)) attachments.delete(name);
        else nodes.add(one.node);
      }
      return nodes;
    },
    attachingOn(driver, node) {
      const found = [...attachments].filter(([, one]) => one.driver === driver && one.node === node);
      return new Set(found.map(([name]) => name));
    },
  };
}
