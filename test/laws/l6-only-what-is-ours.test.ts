import { volumeKey } from "../../src/agent/desired/volume-key.ts";
import { isInvalid } from "../../src/agent/model/desired.ts";
import type { Operation } from "../../src/agent/model/operation.ts";
import type { PlanInput } from "../../src/agent/model/plan-input.ts";
import type { MountEntry } from "../../src/host/mount-table/mountinfo.ts";
import { plan } from "../lib/builders/plan-whole.ts";
import { law } from "./law.ts";
import { buildWorld } from "./worlds/build.ts";
import { covers, ofOneFilesystem, shows, stagingPathOf, told, unmounts } from "./worlds/evidence.ts";
import { worldChoices } from "./worlds/random-worlds.ts";

describe("L6: only what our own record covers is touched", () => {
  law("each unmount is of a mount that the record covers, and that nothing is mounted over", {
    worlds: worldChoices,
    runs: 2000,
    reaches: ["unpublish", "unstage", "publish", "a foreign mount on a target of ours", "an unmount that goes to Lazy"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      for (const operation of plan(input).operations) {
        const mount = unmounts(operation);
        if (mount === undefined) continue;
        const found = input.table?.covering(mount.path);
        reached.count(operation.kind);
        const lazy = "unmountMode" in operation && operation.unmountMode === "Lazy";
        reached.count("an unmount that goes to Lazy", lazy);
        if (found?.id !== mount.id || found.point !== mount.path)
          throw new Error(`not the topmost: ${told([operation])}`);
        if (!isCovered(operation, found, input)) throw new Error(`not ours: ${told([operation])}`);
      }
      for (const target of [...input.records.values()].flatMap((record) => record.targets)) {
        const top = input.table?.at(target.path);
        reached.count("a foreign mount on a target of ours", top !== undefined && !covers(target, top));
      }
    },
  });

  law("what is changed in place or written down as ours is covered by the record, or by an adoption that is allowed", {
    worlds: worldChoices,
    runs: 2000,
    reaches: ["setAttributes", "reconfigure", "note", "adopt", "adopted by IfSame", "adopted as our own file system"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      for (const operation of plan(input).operations) {
        if (!("mountID" in operation) || operation.mountID === undefined) continue;
        if (unmounts(operation) !== undefined) continue;
        const mount = input.table?.entries.find(({ id }) => id === operation.mountID);
        if (mount === undefined) throw new Error(`there is no such mount: ${told([operation])}`);
        reached.count(operation.kind);
        if (operation.kind !== "adopt") {
          if (!isCovered(operation, mount, input)) throw new Error(`not ours: ${told([operation])}`);
          continue;
        }
        const desired = input.desired.get(operation.volume);
        const stage = input.records.get(operation.volume)?.stage;
        const staged = stage?.identity ?? ownStage(operation.volume, input);
        const made = stage === undefined || stage.kind === "filesystem" || stage.kind === "directory";
        const own = made && (input.mayHaveLost || bearsOurName(operation.volume, mount));
        const allowed = desired !== undefined && !isInvalid(desired) && desired.adopt === "IfSame";
        reached.count("adopted by IfSame", allowed && !own);
        reached.count("adopted as our own file system", own && !allowed);
        if (!own && !allowed) throw new Error(`the intent does not allow that: ${told([operation])}`);
        if (desired?.deleting === true && bearsOurName(operation.volume, mount)) continue;
        if (staged === undefined || !shows(mount, staged))
          throw new Error(`shows something else: ${told([operation])}`);
      }
    },
  });
});

function isCovered(operation: Operation, mount: MountEntry, input: PlanInput): boolean {
  const record = input.records.get(operation.volume);
  if ("path" in operation) {
    const target = record?.targets.find(({ path }) => path === operation.path);
    return target !== undefined && mount.point === target.path && covers(target, mount);
  }
  if (mount.point !== stagingPathOf({ key: volumeKey(operation.volume) })) return false;
  const identity = record?.stage?.identity; // our own staging path is a record of itself (safety rule 24)
  return identity === undefined || ofOneFilesystem(mount, identity);
}

/** A mount of what only we make, for this volume alone: a record of itself (safety rule 24). */
function bearsOurName(volume: string, { root, source }: MountEntry): boolean {
  const key = volumeKey(volume);
  return source === `nodevolume-${key}` || root.endsWith(`/data/${key}`);
}

/** What is on the staging path of a volume whose journal was lost. */
function ownStage(volume: string, { table }: PlanInput) {
  return table?.at(stagingPathOf({ key: volumeKey(volume) }));
}
