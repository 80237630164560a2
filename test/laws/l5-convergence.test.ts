import { law } from "./law.ts";
import { isHindered, unmet } from "./worlds/converged.ts";
import { LawNode } from "./worlds/node.ts";
import { stories } from "./worlds/story.ts";
import { Teller } from "./worlds/teller.ts";

/** Above the longest backoff (122 s), and the time in which a target is given up after a timeout, twice. */
const settleMs = 500_000;
/**
 * Steps that three volumes with two mounts each may take after the last fault, to go from anywhere to what is wanted.
 */
const mostSteps = 40;

describe("L5: plans converge, and then there is nothing to plan", () => {
  law("after any story, the node becomes what the intents say in few steps; started again, the agent does nothing", {
    worlds: stories,
    runs: 150,
    reaches: [
      "all as wanted",
      "hindered",
      "vanished and kept",
      "released",
      "mounted",
      "unmounted",
      "removed",
      "formatted",
      "steps after the last fault",
    ],
    async check(story, reached) {
      const node = new LawNode(story.seed, story.place);
      const teller = new Teller(node, story);
      teller.prepare();
      await node.start();
      for (const event of story.events) await teller.tell(event);
      teller.heal();
      node.operations.length = 0;
      await node.run(settleMs);
      const trace = () => `\n${node.trace.tail(80)}`;
      const left = unmet(node);
      if (left.length > 0) throw new Error(`${left.join("; ")}${trace()}`);
      if (node.operations.length > mostSteps) throw new Error(`${node.operations.length} steps${trace()}`);

      for (const name of node.desired.keys()) reached.count(isHindered(name, node) ? "hindered" : "all as wanted");
      reached.count("steps after the last fault", node.operations.length);
      reached.count("vanished and kept", node.rules.vanished.size);
      reached.count(
        "released",
        node.operations.some(({ kind }) => kind === "unstage"),
      );
      for (const [what, times] of Object.entries(node.rules.counts)) reached.count(what, times);

      const before = { ...node.rules.counts };
      node.operations.length = 0;
      node.kill();
      await node.start();
      await node.run(settleMs);
      const again = node.operations.filter(({ kind }) => kind !== "note" && kind !== "observe");
      if (again.length > 0) throw new Error(`converged, and yet: ${JSON.stringify(again)}${trace()}`);
      if (JSON.stringify(node.rules.counts) !== JSON.stringify(before))
        throw new Error(`it touched something${trace()}`);
    },
  });
});
