import { VolumeError } from "../../errors.ts";
import type { StageContext, Staged } from "../api/volume-plugin.ts";

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
  const { directories, dataPath } = context;
  const path = `${dataPath}/${shownData}`;
  await context.record({ kind: "directory", path });
  const directory = await directories.make(dataPath, 0o700);
  await context.record({ kind: "directory", path, directory });
  await discardRest(context, rest);
  if ((await directories.identify(path)) === undefined) {
    await fetch();
    await discardRest(context, rest);
  }
  // Whoever has taken the child over has made it, too: neither a link of theirs nor what it leads to is shown.
  const made = await context.mounter.inspect({ root: "/", path, links: "refuse" });
  if (made === undefined) throw new VolumeError("SetUpFailed", "transient", `${path} is not there any more`);
  if (made.kind !== "directory") {
    throw new VolumeError("ContentRefused", "final", `${path} is not a directory, as whoever fetches it makes it`);
  }
  return { kind: "directory", path, fileKind: "directory", identity: made.identity, directory };
}

async function discardRest({ directories, dataPath }: StageContext, rest: readonly string[]): Promise<void> {
  for (const name of rest) {
    const path = `${dataPath}/${name}`;
    const id = await directories.identify(path);
    if (id !== undefined) await directories.discard(path, id);
  }
}
