import { statusOf } from "../../src/agent/status/intent-status.ts";
import { plan } from "../lib/builders/plan-whole.ts";
import { law } from "./law.ts";
import { buildWorld } from "./worlds/build.ts";
import { covers, mayCover, soleMount, stagingPathOf } from "./worlds/evidence.ts";
import { worldChoices } from "./worlds/random-worlds.ts";

const context = { agent: { bootID: "boot-1", epoch: 1 }, now: 0 };

describe("L2: three truths, mounted, absent and uncertain", () => {
  law("a target is mounted or absent only if the table proves it", {
    worlds: worldChoices,
    runs: 2000,
    reaches: ["mounted", "absent", "uncertain", "covered", "unread table", "not known which one", "stacked"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      for (const { name, record, actualState } of plan(input).volumes.values()) {
        for (const { path, truth, record: target } of actualState.targets) {
          if (target === undefined) continue;
          reached.count(truth);
          const what = `${path} of ${name} counts as ${truth}`;
          if (input.table === undefined) {
            reached.count("unread table");
            if (truth !== "uncertain") throw new Error(`${what}, and no table was read`);
            continue;
          }
          const layers = input.table.layers(path);
          const sole = soleMount(input.table, path);
          reached.count("stacked", layers.length > 1);
          reached.count("covered", layers.length === 1 && sole === undefined);
          reached.count(
            "not known which one",
            target.mountID === undefined && sole !== undefined && !covers(target, sole),
          );
          const mayBe = layers.some((mount) => mayCover(target, mount));
          if (truth === "absent" && mayBe) throw new Error(`${what}, and a mount there may be that of the record`);
          if (truth === "mounted" && (sole === undefined || !covers(target, sole))) {
            throw new Error(`${what}, and the only mount that a lookup finds there is not that of the record`);
          }
        }
        const staged = record?.stage;
        if (actualState.stage.truth !== "mounted" || staged?.kind !== "filesystem") continue;
        const mount = input.table && soleMount(input.table, staged.path);
        if (mount === undefined || !staged.ready) throw new Error(`${name} counts as staged`);
      }
    },
  });

  law("what is not proved to be absent counts as in use", {
    worlds: worldChoices,
    runs: 2000,
    reaches: ["in use", "not in use", "in use by the record alone", "unread table", "child", "unrecorded stage"],
    check(choice, reached) {
      const { input, intents } = buildWorld(choice);
      for (const volume of plan(input).volumes.values()) {
        const { record, name } = volume;
        const staged = record?.stage !== undefined && record.stage.kind !== "path";
        const onStage = record && input.table?.layers(stagingPathOf(record)).length;
        const mayBeMounted = record?.targets.some(
          (target) =>
            input.table === undefined || input.table.layers(target.path).some((mount) => mayCover(target, mount)),
        );
        const evidence = staged || mayBeMounted === true || record?.child !== undefined || (onStage ?? 0) > 0;
        reached.count("unread table", input.table === undefined && mayBeMounted === true && !staged);
        reached.count("child", record?.child !== undefined && !staged && mayBeMounted !== true);
        reached.count("unrecorded stage", (onStage ?? 0) > 0 && !staged);
        reached.count("in use by the record alone", staged && mayBeMounted !== true);
        if (evidence && !volume.actualState.inUse) throw new Error(`${name} does not count as in use`);
        const entry = intents.get(name);
        if (entry === undefined) continue;
        const { inUse } = statusOf(entry.raw, volume, context);
        reached.count(inUse ? "in use" : "not in use");
        if (evidence && !inUse) throw new Error(`the status of ${name} says that it is not in use`);
      }
    },
  });
});
