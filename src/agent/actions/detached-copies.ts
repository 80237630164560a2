import { VolumeError } from "../../errors.ts";
import { sameNamespace } from "../../host/holder.ts";
import type { Holder } from "../../host/ports.ts";
import type { DetachedCopy, VolumeRecord } from "../record.ts";
import { type ActionContext, recordOf } from "./context.ts";
import { names, pids, processOf } from "./users.ts";

/**
 * Of a pod's volume kubelet waits for the pod's own bind alone, and removes its directory: a private copy of it in another mount namespace
 * is detached by that, and what is open there goes on where nothing shows it. So the namespace is written down before, and
 * the release waits for its end (safety rule 6), not the pod.
 * @param copies looks for them. If not all namespaces can be read, they cannot either when the volume is to be released: it waits for that
 */
export async function noteCopies(
  context: ActionContext,
  volume: string,
  path: string,
  copies: () => Promise<readonly Holder[]>,
): Promise<void> {
  const holders = await copies().catch((error: unknown) => {
    if (!(error instanceof VolumeError) || error.reason !== "StillReferenced") throw error;
    context.progress(`${path} is given back: whether it has copies in other mount namespaces is not known`);
    return [];
  });
  const record = recordOf(context, volume);
  const known = record.copies ?? [];
  const more = holders
    .filter((holder) => holder.onNode !== true) // its own namespace never ends
    .filter((holder) => !known.some((copy) => sameNamespace(copy, holder)))
    .flatMap(({ namespace, namespaceID }): DetachedCopy[] => {
      return namespace === undefined ? [] : [{ namespace, ...(namespaceID !== undefined && { namespaceID }), path }];
    });
  if (more.length > 0) await context.journal.put({ ...record, copies: [...known, ...more] });
}

/** @throws VolumeError StillReferenced while a namespace is there whose copy of a pod's bind was detached */
export async function refuseWhileDetached({ host }: ActionContext, { copies = [] }: VolumeRecord): Promise<void> {
  if (copies.length === 0) return;
  const members = await host.evidence.members(copies);
  const holders = members.map((member) => {
    return { ...member, mountPoint: copies.find((copy) => sameNamespace(copy, member))?.path ?? "?" };
  });
  const [first] = holders;
  if (first === undefined) return;
  const message = `a copy of what a pod had was in another mount namespace, and what is open there is seen no more: ${names(holders)}. End these processes`;
  throw new VolumeError("StillReferenced", "transient", message, { on: processOf(first), heldBy: pids(holders) });
}
