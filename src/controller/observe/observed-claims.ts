import type { ObjectStore } from "../../kube/watch/object-store.ts";
import { accessModeOf, isSingleNode } from "../model/access.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import { type Intent, isKubelets } from "../model/projections.ts";
import { type Claim, type ClaimObjects, claimKey, type PersistentVolume } from "../model/storage-objects.ts";
import { createObjectGroups, type ObjectGroups } from "../util/groups.ts";
import { isOfOther, volumeOfClaim } from "./observed-intents.ts";

/** Which nodes are due when a claim, its volume or an intent of it changes. */
export class ObservedClaims {
  readonly #objects: ClaimObjects;
  readonly #due: (node: string) => void;
  /** Intents by claim, whoever manages it: who else has the volume may be one of ours. */
  readonly #byClaim: ObjectGroups<Intent>;
  /**
   * By node, claims of other owners that its pods ask for: without an intent nothing else leads from the claim to the
   * node.
   */
  readonly #ofOthers = new Map<string, ReadonlySet<string>>();

  /** @param due a node is looked at again */
  constructor(intents: ObjectStore<Intent>, objects: ClaimObjects, due: (node: string) => void) {
    this.#byClaim = createObjectGroups(intents);
    this.#objects = objects;
    this.#due = due;
  }

  /** Remembers which claims of other owners the pods of a node ask for. */
  rememberOthers(node: string, there: readonly PodEntry[]): void {
    const uses = there.flatMap((pod) => pod.claims.map((claim) => ({ pod, claim })));
    const others = uses.filter((use) => isOfOther(this.#objects, use));
    const keys = others.map(({ pod: { metadata }, claim }) => claimKey(metadata.namespace ?? "", claim.claimName));
    if (keys.length === 0) this.#ofOthers.delete(node);
    else this.#ofOthers.set(node, new Set(keys));
  }

  forgetNode(node: string): void {
    this.#ofOthers.delete(node);
  }

  intentsOf(namespace: string, name: string): Intent[] {
    return this.#byClaim.of(claimKey(namespace, name));
  }

  onIntent(intent: Intent): void {
    const claim = intent.spec.source.persistentVolumeClaim;
    if (claim === undefined) return;
    this.#byClaim.put(intent.metadata.name, claimKey(claim.namespace, claim.claimName));
    if (isKubelets(intent)) this.#due(intent.spec.nodeName);
    this.#dueElsewhere(claim);
  }

  onIntentGone(gone: Intent): void {
    this.#byClaim.remove(gone.metadata.name);
    if (isKubelets(gone)) this.#due(gone.spec.nodeName);
    const claim = gone.spec.source.persistentVolumeClaim;
    if (claim !== undefined) this.#dueElsewhere(claim);
  }

  onClaim(claim: Claim): void {
    const { namespace = "", name } = claim.metadata;
    this.#dueOfClaim(namespace, name);
    for (const [node, claims] of this.#ofOthers) if (claims.has(claimKey(namespace, name))) this.#due(node);
  }

  onVolume({ claimRef }: PersistentVolume): void {
    if (claimRef !== undefined) this.#dueOfClaim(claimRef.namespace, claimRef.name);
  }

  /** Of a volume for one node at a time the others wait for who has it. */
  #dueElsewhere({ namespace, claimName }: { readonly namespace: string; readonly claimName: string }): void {
    const volume = volumeOfClaim(this.#objects, namespace, claimName);
    if (volume === undefined || !isSingleNode(accessModeOf(volume.accessModes, false))) return;
    this.#dueOfClaim(namespace, claimName);
  }

  #dueOfClaim(namespace: string, name: string): void {
    for (const intent of this.intentsOf(namespace, name)) if (isKubelets(intent)) this.#due(intent.spec.nodeName);
  }
}
