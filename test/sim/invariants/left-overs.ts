import { volumeKey } from "../../../src/agent/desired/volume-key.ts";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { isBeneath } from "../../../src/host/mount-table/mount-table.ts";
import type { Dentry } from "../kernel/dentry.ts";
import { fileAt, pointOf, rootOf, walk } from "../kernel/lookup.ts";
import { layout } from "../machine.ts";
import type { SimNode } from "../sim-node.ts";
import type { Expected, Settled } from "./settled.ts";

/** Mounts, directories and records of the agent's that nothing wants any more. */
export function leftOvers(
  world: Settled,
  node: SimNode,
  intents: readonly NodeVolumeIntent[],
  { kept = [], mayBeKept = [], pointsMayBeLeft = false }: Expected,
): string[] {
  const { machine, agent } = node;
  const wanted = intents.filter(({ spec }) => spec.nodeName === machine.name && spec.mode === "Manage");
  const names = new Set([...wanted.map(({ metadata }) => metadata.name), ...kept, ...mayBeKept]);
  const keys = new Set([...names].map(volumeKey));
  const records = world.invariants.journal.records(machine);
  const keptPaths = [...kept, ...mayBeKept].flatMap(
    (name) => records.get(asVolumeName(name))?.targets.map((target) => target.path) ?? [],
  );
  const paths = [
    ...machine.podsHeld,
    ...wanted.flatMap(({ spec }) => spec.mounts.map((mount) => mount.path)),
    ...keptPaths,
  ];

  const mounts = [machine.kernel.host, ...(agent.namespace === undefined ? [] : [agent.namespace])].flatMap(
    (namespace) =>
      [...namespace.mounts].flatMap((mount) => {
        if (mount.maker !== "agent") return [];
        const point = pointOf(mount) ?? "?";
        const known =
          names.has(mount.volume ?? "") && (paths.some((path) => point.endsWith(path)) || keys.has(baseName(point)));
        return known ? [] : [`${point} is still mounted in ${namespace.name}, for ${mount.volume}`];
      }),
  );
  const directories = ["staging", "data"].flatMap((place) =>
    childrenOf(node, `${layout.stateDir}/${place}`).flatMap(({ name }) =>
      keys.has(name) ? [] : [`${place}/${name} is left of a volume that is gone`],
    ),
  );
  const trash = childrenOf(node, `${layout.stateDir}/trash`).map(({ name }) => `trash/${name} was not emptied`);
  const points = childrenOf(node, layout.prefix).flatMap(({ name, maker }) => {
    const path = `${layout.prefix}/${name}`;
    return pointsMayBeLeft || maker !== "agent" || paths.some((p) => isBeneath(p, path))
      ? []
      : [`mount point ${path} is left`];
  });
  const known = machine.journal.doubtful ? [] : [...records.keys()];
  const forgotten = known.filter((name) => !names.has(name)).map((name) => `a record of ${name} is left`);
  return [...mounts, ...directories, ...trash, ...points, ...forgotten].map((what) => `${machine.name}: ${what}`);
}

function childrenOf({ machine }: SimNode, path: string): Dentry[] {
  const found = walk(rootOf(machine.kernel.host), path, "follow");
  return found === undefined ? [] : [...fileAt(machine.kernel.host, path).children.values()];
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
