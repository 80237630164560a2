import { resource } from "../../../../src/api/names.ts";
import { agentBootID } from "../generator/bases.ts";
import { intentKeys, intentObject } from "../generator/established.ts";
import { type Names, uidOf } from "../generator/shape.ts";
import { template } from "../generator/template.ts";
import type { Stored } from "../through-api/etcd.ts";
import { keyOf } from "../through-api/seed.ts";

/** PURE. The name of a node's volume, by number. */
export function volumeName(node: string, volume: number): string {
  return `${node}.volume-${volume}`;
}

/** NodeVolumeStates whose index names these intents. */
export function* indicesOf(states: Iterable<{ readonly text: string }>, volumes: number): Generator<Stored> {
  let index = 0;
  for (const { text } of states) {
    const { metadata, ...rest } = JSON.parse(text) as { metadata: { name: string } };
    const numbers = [...Array(volumes).keys()];
    const intents = numbers.map((volume) => ({
      name: volumeName(metadata.name, volume),
      uid: uidOf(9, index * volumes + volume),
      generation,
    }));
    yield { key: keyOf(resource.states, metadata), text: JSON.stringify({ ...rest, metadata, spec: { intents } }) };
    index += 1;
  }
}

/** Of what intentObject makes, one that is granted. */
const generation = 2;

/**
 * Intents that are granted and mounted, so many on each node, for etcd. No pod or set asks for them: a controller would
 * release them.
 */
export function* volumesOf(names: Names, volumes: number): Generator<Stored> {
  const write = template<string>(intentObject(true, false, agentBootID), intentKeys);
  for (let index = 0; index < names.shape.nodes; index += 1) {
    const node = names.node(index);
    for (let volume = 0; volume < volumes; volume += 1) {
      const name = volumeName(node, volume);
      const number = index * volumes + volume;
      const text = write({
        name,
        node,
        uid: uidOf(9, number),
        version: "1",
        nodeUID: uidOf(2, index),
        claim: `data-${number}`,
        namespace: "team-000000",
        volume: `pv-${number}`,
        volumeUID: uidOf(7, number),
        pod: `app-${number}`,
        podUID: uidOf(1, number),
      });
      yield { key: keyOf(resource.intents, { name }), text };
    }
  }
}
