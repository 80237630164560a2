/**
 * Which sets have writes under way on which nodes. Such a write may land at any moment, so a rollout counts the node as
 * unavailable and a set that is being deleted waits. A write without an answer stays until the node is written again.
 */
export interface PendingWrites {
  begin(node: string, sets: Iterable<string>): void;
  end(node: string): void;
  nodesOf(set: string): Set<string>;
  nodes(): string[];
}

/** @param onEnd called with each set whose writes on a node have ended: its next steps may continue */
export function createPendingWrites(onEnd: (set: string) => void): PendingWrites {
  const byNode = new Map<string, Set<string>>();
  return {
    begin(node, sets) {
      byNode.set(node, new Set([...(byNode.get(node) ?? []), ...sets]));
    },
    end(node) {
      const ended = byNode.get(node) ?? [];
      byNode.delete(node);
      for (const set of ended) onEnd(set);
    },
    nodesOf(set) {
      return new Set([...byNode].filter(([, sets]) => sets.has(set)).map(([node]) => node));
    },
    nodes: () => [...byNode.keys()],
  };
}
