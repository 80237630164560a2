import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { full } from "../lib/asserts/requirements.ts";
import { Admission } from "./api/admission.ts";
import { target } from "./scenarios/scenario.ts";
import { World } from "./world.ts";

const hourMs = 3_600_000;
const hours = 24;
const nodes = ["a", "b"];
const volumes = 5;
/** Signs of life that fail, watches that are opened anew, looks at the table: of a day. */
const mostEvents = 3_000_000;
/** Writes of a node after a day, but signs of life. */
const mostWrites = 2;
const seeds = full() ? 50 : 1;

describe("a day without an API server, simulated", () => {
  const admission = new Admission();

  for (const restarts of [false, true]) {
    const who = restarts ? "agents that are upgraded meanwhile" : "agents that go on";
    slow(`${who} unmount nothing that is in use, and write next to nothing when it is over`, async function () {
      this.timeout(full() ? 600_000 : 120_000);
      const most = { unmounts: 0, writes: 0 };
      for (let seed = 1; seed <= seeds; seed += 1) {
        const world = new World({ seed, admission, nodes, controllers: 2, mostEvents });
        for (let i = 0; i < volumes; i += 1) {
          const emptyDir = i % 2 === 0 ? ({ medium: "Memory" } as const) : {};
          world.cluster.createSet(`set-${i}`, { volume: { source: { emptyDir } }, mounts: [target(`set-${i}`)] });
        }
        await world.settle();
        for (const { metadata } of world.cluster.intents()) world.mark(metadata.name);
        const begin = linesOf(world).length;
        world.outage("begin");
        for (let hour = 0; hour < hours; hour += 1) {
          await world.sleep(hourMs);
          if (restarts && hour % 6 === 3) for (const { agent } of world.nodes.values()) agent.upgrade();
        }
        for (const node of world.nodes.values())
          for (let i = 0; i < volumes; i += 1) expect(world.mountsOn(target(`set-${i}`), node)).to.equal(1);
        const end = linesOf(world).length;
        world.outage("end");
        await world.settle();
        await world.sleep(hourMs);
        const [during, after] = [linesOf(world).slice(begin, end), linesOf(world).slice(end)];
        most.unmounts = Math.max(most.unmounts, unmountsOf(during));
        for (const node of nodes) most.writes = Math.max(most.writes, writesOf(after, node).length);
        for (let i = 0; i < volumes; i += 1) world.cluster.deleteSet(`set-${i}`);
        await world.settle();
        expect(unmountsOf(linesOf(world).slice(end)), "those that were asked for are seen").to.be.at.least(volumes);
      }
      console.log(`      ${seeds} days: ${JSON.stringify(most)}`);
      expect(most.unmounts).to.equal(0);
      expect(most.writes).to.be.at.most(mostWrites);
    });
  }
});

const linesOf = (world: World) => world.trace.toString().split("\n");

function unmountsOf(lines: readonly string[]): number {
  return lines.filter((line) => / kernel .* unmounts \d+ from host /.test(line)).length;
}

/** What the agent of a node has written but signs of life and Events. */
function writesOf(lines: readonly string[], node: string): string[] {
  return lines.filter((line) => new RegExp(` api +${node}#\\d+: `).test(line) && !/ (leases|events) /.test(line));
}
