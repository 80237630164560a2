import type { KubeObject } from "../../api/meta.ts";
import type { Resource } from "../../api/names.ts";
import type { Transport } from "../../kube/client/transport.ts";
import { createReflector, type Reflector, type ReflectorDeps } from "../../kube/watch/reflector.ts";
import type { System } from "../../ports.ts";

/** Dependencies of the controller's watches. `onRestart` is called each time a watch begins anew, with the reason. */
export interface WatchDeps {
  readonly system: System;
  readonly transport: Transport;
  readonly onRestart: (resource: Resource, why: string) => void;
}

/** The watch of a resource, not started yet. */
export function watch<T extends KubeObject>(
  { system, transport, onRestart }: WatchDeps,
  resource: Resource,
  project: (raw: unknown) => T | undefined,
  more: Pick<ReflectorDeps<T>, "namespace" | "fieldSelector" | "idleMs"> = {},
): Reflector<T> {
  const restarted = (why: string) => onRestart(resource, why);
  return createReflector<T>({ system, transport, resource, project, onRestart: restarted, ...more });
}
