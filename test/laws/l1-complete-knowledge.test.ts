import { plan } from "../lib/builders/plan-whole.ts";
import { law } from "./law.ts";
import { buildWorld } from "./worlds/build.ts";
import { takesAway, told } from "./worlds/evidence.ts";
import { worldChoices } from "./worlds/random-worlds.ts";

describe("L1: nothing is unmounted before everything is known", () => {
  law("until the intents were read completely, nothing is taken away", {
    worlds: worldChoices,
    runs: 1500,
    reaches: ["something to take away", "something to unmount", "something to set up"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      const unsynced = plan({ ...input, synced: false }).operations;
      const removals = unsynced.filter(takesAway);
      if (removals.length > 0) throw new Error(`not synced, and yet: ${told(removals)}`);
      const synced = plan({ ...input, synced: true }).operations;
      reached.count("something to take away", synced.some(takesAway));
      reached.count(
        "something to unmount",
        synced.some((operation) => "mountID" in operation && takesAway(operation)),
      );
      reached.count("something to set up", unsynced.length > 0);
    },
  });

  law("while the mount table cannot be read, nothing is done", {
    worlds: worldChoices,
    runs: 1000,
    reaches: ["something to take away", "something to set up"],
    check(choice, reached) {
      const readable = buildWorld({ ...choice, tableReadable: true }).input;
      const { table: _table, nodeTable: _nodeTable, ...unread } = readable;
      const { operations } = plan({ ...unread, table: undefined });
      if (operations.length > 0) throw new Error(`the table was not read, and yet: ${told(operations)}`);
      const otherwise = plan(readable).operations;
      reached.count("something to take away", otherwise.some(takesAway));
      reached.count(
        "something to set up",
        otherwise.some((operation) => !takesAway(operation)),
      );
    },
  });
});
