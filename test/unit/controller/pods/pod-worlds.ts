import type { SetEntry } from "../../../../src/controller/model/projections.ts";
import type { SetOptions } from "../objects.ts";
import { setEntry } from "../objects.ts";
import type { OneNode } from "../one-node.ts";
import { ours } from "./pod-objects.ts";

export const team = { allowedNamespaces: { names: ["team"], readOnly: false } };

/** A set that is for pods of the namespace team alone. */
export function forPods(name = "a", more: SetOptions["spec"] = {}, options: SetOptions = {}): SetEntry {
  return setEntry(name, { ...options, spec: { mounts: [], ...team, ...more } });
}

/** The volumes of a pod that asks for the claim data. */
export const claim = [ours({ persistentVolumeClaim: "data" })];

/** "pod volume", for each entry of an intent. */
export function podsIn(world: OneNode, volume = "share"): string[] {
  return (world.intent(volume).spec.pods ?? []).map((one) => `${one.name} ${one.volume}`);
}

/** "pod reason". */
export function refused(world: OneNode): string[] {
  return (world.plan().rejections ?? []).map((one) => `${one.pod.metadata.name} ${one.reason}`);
}
