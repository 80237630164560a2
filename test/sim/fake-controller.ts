import { finalizer, resource } from "../../src/api/names.ts";
import type { Grant, NodeVolumeIntent, VolumeSource } from "../../src/api/types.gen.ts";
import { ownershipOf } from "../../src/controller/attach/resolve-volume.ts";
import { grantedOfDriver } from "../../src/controller/grants/write-grant.ts";
import { indexOf } from "../../src/controller/model/intent-index.ts";
import { projectIntent, projectNode } from "../../src/controller/model/projections.ts";
import { projectCSIDriver } from "../../src/controller/model/storage-objects.ts";
import { decideRelease } from "../../src/controller/release/decide-release.ts";
import { sameJson } from "../../src/kube/same-json.ts";
import type { Change } from "./api/collection.ts";
import type { WorldParts } from "./world-parts.ts";

const reactMs = { low: 5, high: 40 } as const;
const retryMs = 2_000;

/**
 * A controller for worlds that are about the agent: it grants what is to be managed and lets go of what was released,
 * by the real rule, and never fails itself.
 */
export class FakeController {
  readonly #parts: WorldParts;

  constructor(parts: WorldParts) {
    this.#parts = parts;
  }

  changed({ object }: Change): void {
    const { scheduler, random, intents } = this.#parts;
    const { metadata, spec } = object as unknown as NodeVolumeIntent; // the collection holds nothing else
    if (intents === "Index")
      scheduler.after(random.between(reactMs.low, reactMs.high), () => this.index(spec.nodeName));
    if (metadata.deletionTimestamp === undefined && (spec.grant !== undefined || spec.mode !== "Manage")) return;
    scheduler.after(random.between(reactMs.low, reactMs.high), () => this.#reconcile(object.metadata.name));
  }

  /** A Node that has changed may be a proof that it holds nothing any more. */
  booted(node: string): void {
    for (const { metadata, spec } of this.#parts.server.list(resource.intents) as unknown as NodeVolumeIntent[]) {
      if (spec.nodeName === node) this.#reconcile(metadata.name);
    }
  }

  nodeAdded(name: string): void {
    this.#parts.server.create(resource.states, { metadata: { name } });
    this.index(name);
  }

  /** Keeps the index of a node, where agents go by it. */
  index(node: string): void {
    const { server, scheduler, intents, network } = this.#parts;
    if (intents !== "Index") return;
    if (network.down > 0) return void scheduler.after(retryMs, () => this.index(node));
    const all = server.list(resource.intents).flatMap((one) => projectIntent(one) ?? []);
    const spec = indexOf(all.filter((intent) => intent.spec.nodeName === node));
    const state = server.get(resource.states, node);
    if (state === undefined || sameJson(state["spec"], spec)) return;
    server.as("controller", () => server.patch(resource.states, node, { spec }));
  }

  #reconcile(name: string): void {
    const { server, network, scheduler } = this.#parts;
    if (network.down > 0) {
      scheduler.after(retryMs, () => this.#reconcile(name));
      return;
    }
    const intent = projectIntent(server.get(resource.intents, name));
    if (intent === undefined) return;
    server.actor = "controller";
    try {
      if (intent.metadata.deletionTimestamp !== undefined) this.#letGo(intent);
      else if (intent.spec.mode === "Manage" && intent.spec.grant === undefined) {
        const id = `grant-${intent.metadata.uid}`.slice(0, 64);
        server.patch(resource.intents, name, { spec: { grant: { id, ...this.#volumeOf(intent.spec.source) } } });
      }
    } finally {
      server.actor = "person";
    }
  }

  /** Of a volume that need not be attached its source says all, and its driver. */
  #volumeOf({ csi }: VolumeSource): Pick<Grant, "csi"> {
    if (csi === undefined) return {};
    const { controllerPublishSecretRef: _notForTheNode, accessMode = "ReadWriteOnce", ...volume } = csi;
    const driver = projectCSIDriver(this.#parts.server.get(resource.csiDrivers, csi.driver));
    const owned = ownershipOf(driver, { ...volume, accessModes: [accessMode] });
    return { csi: { ...volume, accessMode, ...grantedOfDriver(driver), ...owned } };
  }

  #letGo(intent: NodeVolumeIntent): void {
    const { server } = this.#parts;
    const kept = (intent.metadata.finalizers ?? []).filter((name) => name !== finalizer.inUse);
    if (kept.length === intent.metadata.finalizers?.length) return;
    const node = projectNode(server.get(resource.nodes, intent.spec.nodeName));
    const { release } = decideRelease(intent, { node, lostForMs: 0, silentForMs: -1 });
    if (release) server.patch(resource.intents, intent.metadata.name, { metadata: { finalizers: kept } });
  }
}
