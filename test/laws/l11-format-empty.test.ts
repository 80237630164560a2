import { law } from "./law.ts";
import { LawNode } from "./worlds/node.ts";
import { diskStories } from "./worlds/story.ts";
import { Teller } from "./worlds/teller.ts";

describe("L11: mkfs only on a device that is proved empty", () => {
  law("no device that has anything on it, or that somebody has, is given to mkfs", {
    worlds: diskStories,
    runs: 120,
    reaches: ["formatted", "kept empty", "kept xfs", "kept ext4", "kept garbage", "kept held", "mounted"],
    async check(story, reached) {
      const node = new LawNode(story.seed, story.place);
      const teller = new Teller(node, story);
      teller.prepare();
      const disks = [...node.machine.disks.values()];
      const before = disks.map(({ filesystem }) => filesystem);
      await node.start();
      for (const event of story.events) await teller.tell(event);
      await node.run(200_000);
      const rebooted = story.events.some(({ kind }) => kind === "reboot"); // nobody holds a disk over that
      disks.forEach((disk, index) => {
        const state = rebooted && story.disks[index] === "held" ? "empty" : story.disks[index];
        if (disk.filesystem === before[index]) reached.count(`kept ${state}`);
        else if (state !== "empty") throw new Error(`${disk.name}, ${state}, was formatted\n${node.trace.tail(60)}`);
      });
      reached.count("formatted", node.rules.counts.formatted);
      reached.count(
        "mounted",
        disks.some(({ mounted }) => mounted),
      );
    },
  });
});
