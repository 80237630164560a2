import { plan } from "../lib/builders/plan-whole.ts";
import { law } from "./law.ts";
import { buildWorld } from "./worlds/build.ts";
import { mayCover, shows, stagingPathOf } from "./worlds/evidence.ts";
import { worldChoices } from "./worlds/random-worlds.ts";

describe("L3: the stage goes last", () => {
  law("no volume is unstaged while one of its targets is mounted, or may be", {
    worlds: worldChoices,
    runs: 2000,
    reaches: ["unstage", "unstage of a mounted file system", "unstage of a volume without intent", "not yet"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      const { operations } = plan(input);
      for (const record of input.records.values()) {
        const operation = operations.find(({ volume }) => volume === record.name);
        const targets = record.targets.filter((target) =>
          input.table?.entries.some((mount) => mount.point === target.path && mayCover(target, mount)),
        );
        reached.count("not yet", operation?.kind === "unpublish" && targets.length > 0);
        if (operation?.kind !== "unstage") continue;
        reached.count("unstage");
        reached.count("unstage of a mounted file system", operation.mountID !== undefined);
        reached.count("unstage of a volume without intent", !input.desired.has(record.name));
        if (input.table === undefined) throw new Error(`${record.name} is unstaged, and no table was read`);
        const [target] = targets;
        if (target !== undefined) throw new Error(`${record.name} is unstaged, and ${target.path} is mounted`);
        // A journal that was lost does not make a target of a file system of our own somebody else's (safety rule 24).
        const staged = input.table.at(stagingPathOf(record));
        const identity = record.stage?.identity ?? staged;
        const own = record.stage?.kind === "filesystem" || record.stage?.kind === "directory";
        if (identity === undefined || !own) continue;
        const desired = input.desired.get(record.name);
        const wanted = desired !== undefined && "mounts" in desired ? desired.mounts : [];
        const left = wanted.find(({ path }) => {
          const mount = input.table?.at(path);
          return mount !== undefined && shows(mount, identity);
        });
        if (left !== undefined) throw new Error(`${record.name} is unstaged, and ${left.path} shows it`);
      }
    },
  });
});
