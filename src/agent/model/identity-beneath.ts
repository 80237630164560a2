import { joinPath, type MountIdentity } from "../../host/mount-table/mount-table.ts";

/** PURE. What a bind of a part of a volume shows. */
export function identityBeneath<T extends MountIdentity | undefined>(whole: T, subPath: string | undefined): T {
  if (whole === undefined || subPath === undefined) return whole;
  return { ...whole, root: joinPath(whole.root, subPath) };
}
