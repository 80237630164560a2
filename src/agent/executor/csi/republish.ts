import { type MountIdentity, mountIdentity, sameIdentity } from "../../../host/mount-table/mount-table.ts";
import { coveredMount, stillPublished } from "../../actual/published-mount.ts";
import type { MountPath, VolumeName } from "../../model/identities.ts";
import { type Published, type TargetRecord, withTarget } from "../../model/volume-record.ts";
import { applyFSGroup } from "../apply-fsgroup.ts";
import { type ActionContext, recordOf, wanted } from "../operation-context.ts";
import { callDriver, driverNamed, withAnswer } from "./driver-call.ts";
import { withShown } from "./driver-mounts.ts";
import { publishCall } from "./publish-request.ts";
import { falseReply } from "./reply.ts";

/**
 * Calls NodePublishVolume again for a target, because the driver requires it (requiresRepublish), so that it updates
 * what it provides there. Whatever the result, the mount stays (behaviour 78), and nothing is mounted over it (law L9).
 */
export async function republish(context: ActionContext, path: MountPath): Promise<void> {
  const { journal, host } = context;
  const desired = wanted(context);
  const { name, layout } = desired;
  const volume = layout.csi;
  const target = recordOf(context, name).targets.find((one) => one.path === path);
  const published = target?.published;
  // The plan is outdated: the next iteration decides.
  if (volume === undefined || target === undefined || published === undefined) return;
  const lowest = coveredMount(published, await host.mountTable.read());
  if (lowest !== undefined) await uncover(context, name, { path: published.path, below: lowest.id });
  const table = await host.mountTable.read();
  const before = table.at(published.path);
  if (before === undefined || stillPublished(published, table) === undefined) return;
  if (volume.tokenAudiences !== undefined && context.csi.identities.of(path, volume.tokenAudiences) === undefined)
    return;
  const { node } = driverNamed(context, volume.driver);
  const capabilities = await node.capabilities();
  const { request, identity: as } = await publishCall(context, volume, { name, capabilities, target, published });
  let covered = false;
  try {
    await callDriver(context, recordOf(context, name), "NodePublishVolume", (service) => service.publish(request));
    if (as !== undefined) context.csi.identities.given(path, as);
  } finally {
    covered = await uncover(context, name, { path: published.path, below: before.id });
  }
  const mount = (await host.mountTable.read()).at(published.path);
  const answer = withAnswer(context, await withShown(context, recordOf(context, name), mount));
  if (covered) {
    await journal.put(answer);
    const instead = `it has mounted on ${published.path} once more, over what was there: that was unmounted`;
    throw falseReply(volume.driver, "NodePublishVolume", instead, published.path);
  }
  const again = republished(target, published, { shows: mount && mountIdentity(mount), at: context.csi.now() });
  await journal.put(withTarget(answer, again));
  const asked = desired.mounts.find((one) => one.path === path);
  const { identity } = again.published ?? {};
  if (asked === undefined || mount === undefined || identity === undefined) return;
  // What the driver has written is the group's as well (kubelet: csi_mounter.go, SetUpAt).
  await applyFSGroup(context, desired, {
    mount: asked,
    published: { ...published, ...again.published, identity },
    anew: true,
  });
}

/**
 * PURE. The target after the driver was called again. Where it has another mount there now, what that shows is not
 * known: the target is brought to it as to any other change of what is published.
 */
function republished(
  target: TargetRecord,
  { identity, ...published }: Published,
  { shows, at }: { readonly shows: MountIdentity | undefined; readonly at: NonNullable<Published["at"]> },
): TargetRecord {
  const same = identity !== undefined && (shows === undefined || sameIdentity(shows, identity));
  return { ...target, published: { ...published, ...(same && { identity }), at } };
}

/**
 * Unmounts what lies over the mount that was on a publish path before a call. Nobody else mounts there (safety rule
 * 24).
 * @returns whether anything did
 */
async function uncover(
  context: ActionContext,
  volume: VolumeName,
  { path, below }: { readonly path: string; readonly below: number },
): Promise<boolean> {
  const { effects, host, journal, settings } = context;
  let found = false;
  for (;;) {
    const table = await host.mountTable.read();
    const layers = table.layers(path);
    const top = table.at(path);
    if (top === undefined || top.id === below || !layers.some(({ id }) => id === below)) return found;
    found = true;
    await journal.put(await withShown(context, recordOf(context, volume), top));
    await effects.mounter.unmount({ prefix: settings.csiDir, path }, top.id, "Normal", top.uniqueID);
  }
}
