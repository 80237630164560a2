import { mountIdentity, sameIdentity } from "../../../host/mount-table/mount-table.ts";
import { identityBeneath } from "../../model/identity-beneath.ts";
import { nothingShown, type TargetRecord } from "../../model/volume-record.ts";
import { toldOwnership } from "../../ownership/fsgroup-policy.ts";
import { type ActionContext, recordOf, wanted } from "../operation-context.ts";
import { publishPathIn, stagingPathIn, volumeDirectory } from "./paths.ts";

/**
 * Writes down all that may have been done for a CSI volume whose record may be lost: its paths are known from driver
 * and handle (safety rule 24). Each call that may have been sent is taken for one without an answer, until the driver
 * has given another.
 */
export async function recover(context: ActionContext): Promise<void> {
  const desired = wanted(context);
  const { csi, options } = desired.layout;
  if (csi === undefined) throw new Error("only volumes of CSI drivers can be recovered");
  const { driver, volumeHandle, block } = csi;
  const directory = volumeDirectory(context.settings, csi);
  const table = await context.host.mountTable.read();
  const kind = block ? "file" : "directory";
  const targets = desired.mounts.map(({ name, path, attributes, pod, subPath }): TargetRecord => {
    const published = { path: publishPathIn(directory, path), readOnly: attributes.readOnly };
    const [source, bound] = [table.at(published.path), table.at(path)];
    const part = identityBeneath(source && mountIdentity(source), subPath);
    const ours = part !== undefined && bound !== undefined && sameIdentity(bound, part);
    const identity = ours ? mountIdentity(bound) : nothingShown;
    const whose = { ...(pod && { pod }), ...(subPath !== undefined && { subPath }) };
    return { path, name, uid: desired.uid, kind, made: pod !== undefined, identity, attributes, published, ...whose };
  });
  // The lost record had the SELinux label of the mount: the desired label is assumed, as for the options.
  const told = toldOwnership(desired, undefined, context.settings, { volumeMountGroup: false });
  const staged = { driver, volumeHandle, directory, needsUnstage: true, block, shown: [], calls: { sent: true } };
  await context.journal.put({
    ...recordOf(context, desired.name),
    stage: {
      kind: "csi",
      path: stagingPathIn(directory),
      ready: false,
      options,
      fileKind: kind,
      csi: { ...staged, ...told },
    },
    targets,
  });
}
