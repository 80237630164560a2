import type { TearDownContext } from "../api/teardown.ts";
import type { TearDownData } from "../api/teardown-data.ts";
import { growLun } from "../scsi/grow.ts";
import { lunOf, lunText, pathsOf } from "./lun.ts";

/** Grows a LUN on each of its paths. */
export async function expandLun(undo: TearDownData, to: string, context: TearDownContext): Promise<void> {
  const lun = lunOf(undo);
  const sessions = await context.iscsi.sessions();
  const name = lunText(lun);
  await growLun({ name, to, pathsIn: ({ disks }) => pathsOf(lun, sessions, disks).map(({ disk }) => disk) }, context);
}
