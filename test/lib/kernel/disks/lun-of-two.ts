import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import type { ControlledAgents } from "../controlled-agents.ts";

/** A LUN that two nodes find, each by a way of its own. */
export interface LunOfTwo {
  readonly nodes: readonly [string, string];
  /** What both call it. */
  readonly name: RegExp;
  /** Whether a device is the LUN by the way of a node. */
  isWayOf(node: string, device: string): boolean;
}

/**
 * It is of one of the two, whose sets are there; the other says so, and has what that has written once it is released.
 */
export async function oneAtATime(both: ControlledAgents, { nodes, name, isWayOf }: LunOfTwo): Promise<void> {
  both.fleet.start();
  const found = () => nodes.map((node) => both.intentOf(node)?.status?.disk);
  await both.becomes("both to name what they have found", () => found().every((disk) => disk !== undefined));
  expect(found()[0]).to.match(name);
  expect(found()[1]).to.equal(found()[0]);
  await both.becomes("one to have it", () => nodes.some((node) => both.stateOf(node) === "Mounted"));
  const [first, second] = both.stateOf(nodes[0]) === "Mounted" ? nodes : [nodes[1], nodes[0]];
  await both.becomes("the other to say so", () => both.fleet.waitReason(second) === `VolumeHeldElsewhere ${first}`);
  expect(both.deviceOf(second)).to.equal(undefined);
  expect(isWayOf(first, both.deviceOf(first) ?? ""), `${both.deviceOf(first)}, by the way of ${first}`).to.equal(true);
  writeFileSync(`${both.target(first)}/written`, first);

  both.fleet.api.remove("nodevolumesets", first);
  await both.becomes("the other to have it", () => both.stateOf(second) === "Mounted");
  expect([both.intentOf(first), both.deviceOf(first)]).to.deep.equal([undefined, undefined]);
  expect(isWayOf(second, both.deviceOf(second) ?? ""), `${both.deviceOf(second)}, by that of ${second}`).to.equal(true);
  expect(readFileSync(`${both.target(second)}/written`, "utf8")).to.equal(first);
  both.fleet.api.remove("nodevolumesets", second);
  await both.becomes("nobody to have it", () => both.fleet.intents().length === 0);
  expect(nodes.map((node) => both.deviceOf(node))).to.deep.equal([undefined, undefined]);
}
