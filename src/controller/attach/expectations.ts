import type { Intent } from "../model/projections.ts";
import type { VolumeID } from "../model/volume-key.ts";
import { attachmentName } from "./attachment-name.ts";

/**
 * Expectations, as kube-controller-manager's controllers have them: writes that the watch has not shown yet, or that
 * had no answer. They count as done until the watch or the API server shows the result. Without them, a decision on a
 * stale cache could grant one volume to two nodes.
 */
export interface Expectations {
  granting(intent: Intent): boolean;
  beginGrant(intent: Intent): void;
  /** It is certain that nothing was written, or the store shows it. */
  endGrant(intent: Intent): void;
  beginAttach(id: VolumeID, node: string): void;
  endAttach(id: VolumeID, node: string): void;
  /** The watch has shown a VolumeAttachment, or its end. */
  seen(attachment: string): void;
  /** Nodes for which a VolumeAttachment of the volume may have been written that was not seen. */
  attaching(id: VolumeID): Set<string>;
  /** VolumeAttachments of a driver on a node that may have been written. */
  attachingOn(of: Pick<VolumeID, "driver">, node: string): Set<string>;
  /** Another has led meanwhile, and all was read since: what was written before is there, or is not. */
  forget(): void;
}

/** None, as at the beginning of a leader's term. */
export function createExpectations(): Expectations {
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
      attachments.set(attachmentName(id, node), { ...id, node });
    },
    endAttach: (id, node) => void attachments.delete(attachmentName(id, node)),
    seen: (name) => void attachments.delete(name),
    attaching({ driver, volumeHandle }) {
      const found = [...attachments.values()].filter(
        (one) => one.driver === driver && one.volumeHandle === volumeHandle,
      );
      return new Set(found.map(({ node }) => node));
    },
    attachingOn({ driver }, node) {
      const found = [...attachments].filter(([, one]) => one.driver === driver && one.node === node);
      return new Set(found.map(([name]) => name));
    },
    forget() {
      grants.clear();
      attachments.clear();
    },
  };
}
