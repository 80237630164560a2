import { label, resource } from "../../../src/api/names.ts";
import type { SeededRandom } from "../random.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Change } from "./collection.ts";
import { at, type StoredObject } from "./json.ts";
import { Refusal } from "./refusal.ts";

/** Tried on a real server: 9 of 60 pods were admitted after the write of the label had returned. */
const lagMs = { low: 0, high: 1_000 } as const;

/** The one that the policy names comes first. */
const closing = [label.held, label.reserved];

/**
 * The ValidatingAdmissionPolicy with claims as parameters that denies pods which name a claim that is held or reserved
 * (config/policy). It sees a label a while after it was written.
 */
export class ClaimPolicy {
  readonly #scheduler: Scheduler;
  readonly #random: SeededRandom;
  /** When the policy sees a label of a claim that keeps pods out, by namespace, name and label. */
  readonly #closedFrom = new Map<string, number>();

  constructor(scheduler: Scheduler, random: SeededRandom) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  changed({ object, type }: Change): void {
    for (const one of closing) {
      const key = `${object.metadata.namespace}/${object.metadata.name} ${one}`;
      const closed = type !== "DELETED" && object.metadata.labels?.[one] !== undefined;
      if (!closed) this.#closedFrom.delete(key);
      else if (!this.#closedFrom.has(key)) {
        this.#closedFrom.set(key, this.#scheduler.now + this.#random.between(lagMs.low, lagMs.high));
      }
    }
  }

  /** @throws Refusal 403 */
  admitPod(pod: StoredObject, namespace: string | undefined): void {
    const volumes = (at(pod["spec"], "volumes") ?? []) as readonly unknown[];
    for (const volume of volumes) {
      const claim = at(volume, "persistentVolumeClaim", "claimName");
      const from = (one: string) => this.#closedFrom.get(`${namespace}/${claim} ${one}`) ?? Number.POSITIVE_INFINITY;
      const seen = closing.find((one) => from(one) <= this.#scheduler.now);
      if (seen === undefined) continue;
      const why = `claim ${claim} has the label ${seen}`;
      const message = `${resource.pods.plural} "${pod.metadata.name}" is forbidden: ValidatingAdmissionPolicy: ${why}`;
      throw new Refusal(403, "Forbidden", message);
    }
  }
}
