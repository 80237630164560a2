import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { SourcePath } from "../../host/ports/host-ports.ts";
import type { TargetPath } from "../../host/ports/types.ts";
import type { VolumeName } from "../model/identities.ts";
import { type TargetRecord, withTarget } from "../model/volume-record.ts";
import { type ActionContext, recordOf } from "./operation-context.ts";

/** Writes down what is about to be on a target, from where on a mount of that identity there is ours, and binds it. */
export async function bindTarget(
  context: ActionContext,
  volume: VolumeName,
  source: SourcePath,
  { target, intended }: { readonly target: TargetPath; readonly intended: TargetRecord },
): Promise<void> {
  const { journal, host, effects } = context;
  const { path, kind, identity, attributes } = intended;
  await journal.put(withTarget(recordOf(context, volume), intended));
  await effects.mounter.makeTarget(target, kind);
  await effects.mounter.bind(source, identity, target, attributes);
  const mounted = (await host.mountTable.read()).at(path);
  if (mounted === undefined) return;
  await journal.put(withTarget(recordOf(context, volume), { ...intended, ...whichMount(mounted) }));
}

/** Identity of a mount among others of the same file system, if the directory that it shows was renamed. */
export function whichMount(mount: MountEntry): Pick<TargetRecord, "mountID" | "uniqueID" | "peerGroup"> {
  const { id, uniqueID, shared } = mount;
  const unique = uniqueID === undefined ? {} : { uniqueID };
  return { mountID: id, ...unique, ...(shared !== undefined && { peerGroup: shared }) };
}
