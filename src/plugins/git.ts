import { quantityBytes } from "../api/quantity.ts";
import type { GitVolumeSource } from "../api/types.gen.ts";
import { VolumeError } from "../errors.ts";
import type { StageContext, Staged, StagingPlugin, VolumeSpec } from "./plugin.ts";

/** Bytes that are fetched or shown at most if the source does not say. */
const defaultSizeLimit = 1024 ** 3;

/** The files, beside what they are made from. */
const shownData = "tree";

/**
 * The files of one commit of a git repository, in a directory of our own, shown read-only. Beside the files, which are in `tree`,
 * that has for a while what they are made from; `tree` comes last and whole, so if it is there, nothing is fetched again,
 * after a reboot without the server too. (kubelet: pkg/volume/git_repo, switched off in 1.36 as it ran git as root, hooks and
 * all)
 */
export const git: StagingPlugin = {
  type: "git",
  discards: true,

  layout: () => ({ options: [], readOnly: true, devices: false, shownData }),

  async stage(spec: VolumeSpec, context: StageContext): Promise<Staged> {
    const { repository, revision, directory: subdirectory = "", sizeLimit } = sourceOf(spec);
    const { directories, repositories, dataPath } = context;
    const path = `${dataPath}/${shownData}`;
    await context.record({ kind: "directory", path });
    const directory = await directories.make(dataPath, 0o700);
    await context.record({ kind: "directory", path, directory });
    await discardRest(context);
    if ((await directories.identify(path)) === undefined) {
      const limit = sizeLimit === undefined ? defaultSizeLimit : Number(quantityBytes(sizeLimit));
      const request = { directory: dataPath, repository, revision, subdirectory, sizeLimit: limit };
      await repositories.checkOut(request, (message) => context.progress(`git: ${message}`));
      await discardRest(context);
    }
    const made = await context.mounter.inspect({ root: "/", path });
    if (made === undefined) throw new VolumeError("SetUpFailed", "transient", `${path} is not there any more`);
    return { kind: "directory", path, fileKind: "directory", identity: made.identity, directory };
  },
};

/** What the files were made from, and what an attempt before did not finish. */
async function discardRest({ directories, dataPath }: StageContext): Promise<void> {
  for (const path of [`${dataPath}/repository`, `${dataPath}/new`]) {
    const id = await directories.identify(path);
    if (id !== undefined) await directories.discard(path, id);
  }
}

function sourceOf(spec: VolumeSpec): GitVolumeSource {
  if (spec.source.git === undefined) throw new Error("not a git volume");
  return spec.source.git;
}
