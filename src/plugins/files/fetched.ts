import type { StageContext, Staged } from "../api/volume-plugin.ts";
import { stageDirectory } from "../staging.ts";

/** Bytes that are fetched or shown at most if the source does not say. */
export const defaultSizeLimit = 1024 ** 3;

/** The directory in a data directory that targets show: the files, beside what they are made from. */
export const shownData = "tree";

/**
 * Has files fetched into `tree` of the data directory, which comes last and whole: if it is there, nothing is fetched
 * again, after a reboot without the server too.
 * @param fetch makes `tree`; of what else it makes, or did not finish, `rest` has the names: thrown away before and
 * after
 */
export async function stageFetched(
  context: StageContext,
  rest: readonly string[],
  fetch: () => Promise<void>,
): Promise<Staged> {
  const path = `${context.dataPath}/${shownData}`;
  const fill = async () => {
    await discardRest(context, rest);
    if ((await context.directories.identify(path)) !== undefined) return;
    await fetch();
    await discardRest(context, rest);
  };
  return stageDirectory(context, 0o700, fill, path);
}

async function discardRest({ directories, dataPath }: StageContext, rest: readonly string[]): Promise<void> {
  for (const name of rest) {
    const path = `${dataPath}/${name}`;
    const id = await directories.identify(path);
    if (id !== undefined) await directories.discard(path, id);
  }
}
