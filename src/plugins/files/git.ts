import { quantityBytes } from "../../api/values/quantity.ts";
import { type StagingPlugin, sourceOf } from "../api/volume-plugin.ts";
import { defaultSizeLimit, shownData, stageFetched } from "./fetched.ts";
import { repositoryAccess } from "./git-access.ts";

/**
 * The files of one commit of a git repository, in a directory of our own, shown read-only. (kubelet:
 * pkg/volume/git_repo, switched off in 1.36 as it ran git as root, hooks and all)
 */
export const git: StagingPlugin = {
  type: "git",
  discards: true,

  layout: () => ({ options: [], readOnly: true, devices: false, shownData, group: "walk" }),

  stage(spec, context) {
    const { repository, revision, directory: subdirectory = "", sizeLimit, secretRef } = sourceOf(spec, "git");
    const limit = sizeLimit === undefined ? defaultSizeLimit : Number(quantityBytes(sizeLimit));
    const request = { directory: context.dataPath, repository, revision, subdirectory, sizeLimit: limit };
    const progress = (message: string) => context.progress(`git: ${message}`);
    return stageFetched(context, ["repository", "new"], async () => {
      const access = secretRef && repositoryAccess(repository, await context.secret(secretRef), secretRef);
      await context.repositories.checkOut({ ...request, ...(access && { access }) }, progress);
    });
  },
};
