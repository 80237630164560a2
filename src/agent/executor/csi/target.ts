import { type MountTable, sameIdentity } from "../../../host/mount-table/mount-table.ts";
import type { TargetPath } from "../../../host/ports/types.ts";
import type { CSIVolume } from "../../../plugins/api/volume-plugin.ts";
import { stillPublished } from "../../actual/published-mount.ts";
import { identityFor } from "../../content/pod-tokens.ts";
import type { DesiredMount, DesiredVolume } from "../../model/desired.ts";
import { nothingShown, type Published, type TargetRecord, withTarget } from "../../model/volume-record.ts";
import { applyFSGroup } from "../apply-fsgroup.ts";
import { bindTarget } from "../bind.ts";
import { type ActionContext, recordOf } from "../operation-context.ts";
import { partOf } from "../sub-path.ts";
import { csiStageOf } from "./driver-call.ts";
import { publishByDriver } from "./publish.ts";
import { nodeUnpublish } from "./unpublish.ts";

/**
 * Publishes a CSI volume in a directory that only root may enter, and binds it to a target from there. The driver is
 * not called if its mount is present. The target keeps its present mount until there is a new one, except if the
 * publish path has to be emptied first.
 */
export async function publishTarget(
  context: ActionContext,
  desired: DesiredVolume,
  volume: CSIVolume,
  { mount, target, replaces }: { mount: DesiredMount; target: TargetPath; replaces: number | undefined },
): Promise<void> {
  const { effects, host, journal } = context;
  const { path, name, attributes, pod, subPath } = mount;
  const before = recordOf(context, desired.name);
  const stage = csiStageOf(before);
  const fileKind = stage.fileKind ?? "directory";
  const known = before.targets.find((t) => t.path === path);
  const made = pod !== undefined || (known?.made ?? (await effects.mounter.inspectTarget(target)) === undefined);
  const whose = { ...(pod && { pod }), ...(subPath !== undefined && { subPath }) };
  const first = { kind: known?.kind ?? fileKind, identity: known?.identity ?? nothingShown };
  const intended: TargetRecord = { ...known, path, name, uid: desired.uid, made, ...first, attributes, ...whose };
  const table = await host.mountTable.read();
  const here = known?.published?.readOnly === attributes.readOnly ? stillPublished(known.published, table) : undefined;

  if (here === undefined) identityFor(context, volume, intended); // else what is there would go, and nothing come

  let bound = replaces;
  const inTheWay = known?.published !== undefined && mustGoFirst(known.published, attributes.readOnly, table);
  if (here === undefined && known?.published !== undefined && inTheWay) {
    // Where the driver has nothing mounted, what the target shows does not rest on it, and stays.
    if (bound !== undefined && table.layers(known.published.path).length > 0) {
      await effects.mounter.unmount(target, bound, "Normal", context.uniqueID);
      bound = undefined;
    }
    await nodeUnpublish(context, desired.name, known);
  }
  const there =
    here === undefined || known?.published === undefined
      ? await publishByDriver(context, desired, volume, intended)
      : { ...known.published, identity: here };
  const published = await applyFSGroup(context, desired, { mount, published: there });

  const whole = { path: published.path, identity: published.identity, kind: fileKind };
  const { source, identity, kind } = await partOf(context, mount, whole);
  const shown = bound === undefined ? undefined : (await host.mountTable.read()).byID(bound);
  const cameBack = here === undefined || published !== there;
  if (cameBack && shown !== undefined && sameIdentity(shown, identity)) {
    // What came back, or was given to a group, is what the target shows: it needs no other mount, as new flags do.
    await journal.put(
      withTarget(recordOf(context, desired.name), {
        ...intended,
        attributes: known?.attributes ?? attributes,
        identity,
        published,
      }),
    );
    return;
  }
  if (bound !== undefined) await effects.mounter.unmount(target, bound, "Normal", context.uniqueID);
  const { mountID: _id, uniqueID: _unique, peerGroup: _group, ...rest } = intended;
  await bindTarget(context, desired.name, source, { target, intended: { ...rest, kind, identity, published } });
}

/** Whether NodeUnpublishVolume is due before NodePublishVolume is called again. */
function mustGoFirst({ path, identity, readOnly, refuted }: Published, wanted: boolean, table: MountTable): boolean {
  if (refuted === true) return true;
  return table.layers(path).length > 0 && (identity !== undefined || readOnly !== wanted);
}
