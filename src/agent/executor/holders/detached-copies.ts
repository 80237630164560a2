import { VolumeError } from "../../../errors.ts";
import { NamespacesUnknown, PinnedUnknown, sameNamespace } from "../../../host/ports/evidence.ts";
import type { Holder } from "../../../host/ports/host-ports.ts";
import type { VolumeName } from "../../model/identities.ts";
import type { DetachedCopy, VolumeRecord } from "../../model/volume-record.ts";
import { type ActionContext, recordOf } from "../operation-context.ts";
import { heldBy, names } from "./mount-holders.ts";

/**
 * kubelet waits only for the pod's own bind mount, and then removes its directory. That detaches private copies of the
 * mount in other mount namespaces; files that are open there stay in use, and no mount table lists them. So the
 * namespace is recorded first, and the release waits for the end of the namespace (safety rule 6), not of the pod.
 * @param copies finds them. If the mount namespaces cannot be listed, that is recorded instead: kubelet would retry for
 *   ever
 */
export async function noteCopies(
  context: ActionContext,
  volume: VolumeName,
  path: string,
  copies: () => Promise<readonly Holder[]>,
): Promise<void> {
  const found = await copies().then(
    (holders) => copiesIn(holders, path),
    (error: unknown): DetachedCopy[] => {
      if (!(error instanceof NamespacesUnknown)) throw error;
      context.progress(`${path} is released: it is unknown whether it has copies in other mount namespaces`);
      return copiesIfUnknown(error, path);
    },
  );
  const record = recordOf(context, volume);
  const known = record.copies ?? [];
  const more = found.filter((copy) => !known.some((one) => isSame(one, copy)));
  if (more.length > 0) await context.journal.put({ ...record, copies: [...known, ...more] });
}

/** The node's own namespace never ends. */
function copiesIn(holders: readonly Holder[], path: string): DetachedCopy[] {
  return holders.filter(({ onNode }) => onNode !== true).flatMap((holder) => copyIn(holder, path));
}

/**
 * If a mount namespace cannot be read, its name is recorded: a copy in it ends with it. A copy without a known
 * namespace counts as being in any.
 */
function copiesIfUnknown(error: NamespacesUnknown, path: string): DetachedCopy[] {
  if (!(error instanceof PinnedUnknown) || error.namespaces === undefined) return [{ path }];
  return [...copiesIn(error.holders, path), ...error.namespaces.map((namespace) => ({ namespace, path }))];
}

function copyIn({ namespace, namespaceID }: Holder, path: string): DetachedCopy[] {
  return namespace === undefined ? [] : [{ namespace, ...(namespaceID !== undefined && { namespaceID }), path }];
}

/** One that is not known stands for all. */
function isSame(a: DetachedCopy, b: DetachedCopy): boolean {
  return b.namespace === undefined ? a.namespace === undefined : sameNamespace(a, b);
}

/** @throws VolumeError StillReferenced while a namespace is there whose copy of a pod's bind was detached, or may be */
export async function refuseWhileDetached({ host }: ActionContext, { copies = [] }: VolumeRecord): Promise<void> {
  if (copies.length === 0) return;
  const members = await host.evidence.members(copies);
  const holders = members.map((member) => {
    return { ...member, mountPoint: copies.find((copy) => sameNamespace(copy, member))?.path ?? "?" };
  });
  if (holders.length === 0) return refuseUnlessKnown(copies);
  const message = `a copy of what a pod had was in another mount namespace, and what is open there is seen no more: ${names(holders)}. End these processes`;
  throw heldBy("StillReferenced", message, holders);
}

/** No mount outlives a restart of the node, and the record of copies neither. */
function refuseUnlessKnown(copies: readonly DetachedCopy[]): void {
  const unknown = copies.find(({ namespace }) => namespace === undefined);
  if (unknown === undefined) return;
  const message = `it is unknown whether other mount namespaces had copies of ${unknown.path}: processes could not be read when it was released, and the kernel did not list mount namespaces. Restart the node`;
  throw new VolumeError("StillReferenced", "transient", message);
}
