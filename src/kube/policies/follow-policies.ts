import type { KubeObject } from "../../api/meta.ts";
import { type Resource, resource } from "../../api/names.ts";
import type { System } from "../../ports.ts";
import type { Transport } from "../client/transport.ts";
import { asRecord } from "../json.ts";
import { createReflector } from "../watch/reflector.ts";
import type { PolicyBinding } from "./policies.ts";

/** A change of a policy or binding. */
export interface PolicyChange {
  /** Of the policy or binding. */
  readonly name: string;
  /**
   * It was made, deleted or exchanged, or decides something else than before. Not: it is seen for the first time, or
   * has other annotations.
   */
  readonly decides: boolean;
}

/** Tells of each change of policies and bindings, as soon as the API server does. */
export interface PolicyFollower {
  start(): void;
  stop(): void;
}

/**
 * A watch for each object, by its name: RBAC lets nobody of ours read the policies of others. Each is a connection of
 * its own.
 * @param onChange one of them was made, changed or deleted, or is seen for the first time
 */
export function followPolicies(
  { system, transport }: { readonly system: System; readonly transport: Transport },
  bindings: readonly PolicyBinding[],
  onChange: (change: PolicyChange) => void,
): PolicyFollower {
  const objects: readonly (readonly [Resource, string])[] = [
    ...bindings.map(([binding]) => [resource.policyBindings, binding] as const),
    ...[...new Set(bindings.map(([, policy]) => policy))].map((policy) => [resource.policies, policy] as const),
  ];
  const watches = objects.map(([of, name]) => {
    const watch = createReflector<KubeObject>({
      system,
      transport,
      resource: of,
      fieldSelector: `metadata.name=${name}`,
      project: nameOnly,
    });
    const tell = ({ metadata }: KubeObject, decides: boolean) => onChange({ name: metadata.name, decides });
    watch.store.subscribe({
      onAdd: (object) => tell(object, watch.store.state().synced),
      onUpdate: (before, after) => tell(after, before.metadata.generation !== after.metadata.generation),
      onDelete: (object) => tell(object, true), // also when another object of this name has come
    });
    return watch;
  });
  return {
    start() {
      for (const watch of watches) watch.start();
    },
    stop() {
      for (const watch of watches) watch.stop();
    },
  };
}

/** What is in it is read anew when it has changed. */
function nameOnly(raw: unknown): KubeObject | undefined {
  const object = asRecord(raw) as KubeObject | undefined;
  if (object === undefined) return undefined;
  const { name, uid, resourceVersion, generation } = object.metadata;
  return { metadata: { name, uid, resourceVersion, generation } } as KubeObject;
}
