import { VolumeError } from "../../errors.ts";
import { type MountIdentity, sameIdentity } from "../../host/mount-table/mount-table.ts";
import type { SourcePath } from "../../host/ports/host-ports.ts";
import type { DesiredMount } from "../model/desired.ts";
import { identityBeneath } from "../model/identity-beneath.ts";
import type { ActionContext } from "./operation-context.ts";

/** What is bound to a target. */
export interface BindSource {
  readonly source: SourcePath;
  readonly identity: MountIdentity;
  readonly kind: "directory" | "file";
}

/**
 * The part of a volume that a target shows: the whole, or an existing directory or file. The contents of a volume are
 * its users' choice, so that the walk follows no link, and its result must be part of the volume and at its path
 * (behaviour 49).
 * @throws VolumeError SubPathMissing, SymlinkInPath, SourceWrongType
 */
export async function partOf(
  { effects }: ActionContext,
  { subPath }: Pick<DesiredMount, "subPath">,
  whole: { readonly path: string; readonly identity: MountIdentity; readonly kind: "directory" | "file" },
): Promise<BindSource> {
  const { path, identity, kind } = whole;
  if (subPath === undefined) return { source: { root: "/", path }, identity, kind };
  const source: SourcePath = { root: path, path: `/${subPath}`, links: "refuse" };
  const found = await effects.mounter.inspect(source);
  if (found === undefined) {
    const message = `the volume has no ${subPath}: make it, or correct subPath in the pod`;
    throw new VolumeError("SubPathMissing", "transient", message);
  }
  const wanted = identityBeneath(identity, subPath);
  if (!sameIdentity(found.identity, wanted)) {
    const message = `${subPath} leads out of the volume, by a link or by what is mounted in it: name a plain path`;
    throw new VolumeError("SymlinkInPath", "final", message);
  }
  if (found.kind !== "directory" && found.kind !== "file") {
    const message = `${subPath} of the volume is a ${found.kind}: only directories and files are bound`;
    throw new VolumeError("SourceWrongType", "final", message);
  }
  return { source, identity: wanted, kind: found.kind };
}
