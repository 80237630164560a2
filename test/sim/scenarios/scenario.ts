import { layout } from "../machine.ts";
import type { World } from "../world.ts";
import type { WorldOptions } from "../world-options.ts";

/**
 * One story with a name: people and programs do things, and in between the world settles as the intents say. It must
 * hold whenever a process dies on the way, so it never waits for what only a process that lives could know.
 */
export interface Scenario {
  readonly name: string;
  readonly world?: Pick<WorldOptions, "nodes" | "controllers" | "drivers" | "kubeControllerManager" | "intents">;
  run(world: World): Promise<void>;
}

/** A path that mounts are allowed on. */
export function target(name: string): string {
  return `${layout.prefix}/${name}`;
}

/** A path of the host that people bring. */
export function source(name: string): string {
  return `${layout.sources}/${name}`;
}
