// Lives in random worlds of disks, one after another, and says of each what it has shown:
//   node main.ts FIRST-SEED COUNT PLACE [FOCUS]
// FOCUS is JSON. The first with harm is the last, or the one that it is in when it is told to end.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Edit } from "../../sim/mutations/mutation.ts";
import { childOf } from "./child-of.ts";
import { makeContents } from "./contents.ts";
import type { Focus } from "./focus.ts";
import { Somebody } from "./somebody.ts";
import { World } from "./world.ts";

const [first = 0, count = 0, place = 0] = process.argv.slice(2, 5).map(Number);
const focus = process.argv[5] === undefined ? undefined : (JSON.parse(process.argv[5]) as Focus);
const edits = JSON.parse(process.env["NODEVOLUME_SIM_EDITS"] ?? "[]") as readonly Edit[];
let ended = false;
process.on("SIGTERM", () => {
  ended = true;
});
process.env["NODEVOLUME_CHILD"] = JSON.stringify(await childOf(edits));
const directory = mkdtempSync(join(tmpdir(), "nvo-disks-"));
try {
  await using somebody = new Somebody();
  const of = { somebody, contents: await makeContents(directory, somebody), place, focus };
  for (let index = 0; index < count && !ended; index++) {
    const { harm, happened, ...shown } = await new World((first + index) % 2 ** 31, of).run();
    console.log(JSON.stringify({ ...shown, harm, happened: [...happened] }));
    if (harm.length > 0) break;
  }
} finally {
  rmSync(directory, { recursive: true });
}
