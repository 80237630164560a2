import type { NodeVolumeSetStatus } from "../../../../src/api/types.gen.ts";
import { selectedNodes } from "../../../../src/controller/nodes/select-nodes.ts";
import { decideRollout } from "../../../../src/controller/sets/rollout.ts";
import { setStatus } from "../../../../src/controller/sets/set-status.ts";
import { condition, setEntry, settledStatus } from "../objects.ts";
import { type OneNode, oneNode } from "../one-node.ts";

const now = 1_700_000_000_000;

/** The status of set a over these worlds, one a node. */
export function statusOf(
  worlds: OneNode[],
  before: NodeVolumeSetStatus = {},
  set = "a",
  looked = () => {},
): NodeVolumeSetStatus {
  const nodes = worlds.flatMap((world) => {
    const onNode = world.setsOnNode().get(set);
    return onNode === undefined ? [] : [{ node: world.name, onNode }];
  });
  const entry = worlds[0]?.sets.find(({ metadata }) => metadata.name === set);
  if (entry === undefined) throw new Error("no set");
  const counted = nodes.filter(({ onNode }) => onNode.selected);
  const rollout =
    entry.spec === undefined
      ? { admitted: new Set<string>(), pausedBy: undefined, outdated: 0 }
      : decideRollout(entry.spec.rollout, counted, new Set());
  const about = { entry: { ...entry, status: before }, nodes, rollout, remaining: { intents: 2, lost: ["n7"] } };
  const { spec } = entry;
  const there = worlds.flatMap(({ node }) => node ?? []);
  const selected = () => {
    looked();
    return spec === undefined ? "none" : selectedNodes(spec, there);
  };
  return setStatus({ ...about, selected, pods: undefined }, now);
}

/** Nodes whose agents have done all that these sets ask of them. */
export function fleet(count: number, sets = [setEntry("a")]): OneNode[] {
  return Array.from({ length: count }, (_, i) => {
    const world = oneNode(sets, `n${i}`);
    world.settle();
    world.agent();
    return world;
  });
}

/** The agent of a node says this of all its volumes. */
export function report(world: OneNode | undefined, ...args: Parameters<typeof condition>): void {
  for (const intent of world?.intents() ?? []) {
    const status = settledStatus(intent, { conditions: [condition(...args)] });
    world?.change(intent.metadata.name, (i) => Object.assign(i, { status }));
  }
}
