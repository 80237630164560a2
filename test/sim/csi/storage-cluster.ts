import { allowing } from "../../../hack/lib/allowing.ts";
import { allowedSetLabelPrefix, label, resource } from "../../../src/api/names.ts";
import { at } from "../api/json.ts";
import { Refusal } from "../api/refusal.ts";
import type { SimApiServer } from "../api/sim-api-server.ts";
import { nodeIDOf } from "./serve.ts";
import type { DriverKind, StoredVolume } from "./storage.ts";

const namespace = "default";

/**
 * What people, and the parts of Kubernetes that are not simulated, write of storage: at once, whatever the network is
 * like.
 */
export class StorageCluster {
  readonly #server: SimApiServer;

  constructor(server: SimApiServer) {
    this.#server = server;
  }

  csiDriver({ name, attach, requiresRepublish = false, fsGroupPolicy = "None" }: DriverKind): void {
    const spec = { attachRequired: attach, requiresRepublish, fsGroupPolicy };
    this.#server.create(resource.csiDrivers, { metadata: { name }, spec });
  }

  /** What kubelet writes of the drivers that have registered with it. */
  csiNode(name: string, drivers: readonly DriverKind[]): void {
    const entries = drivers.map((driver) => ({ name: driver.name, nodeID: nodeIDOf(name), topologyKeys: null }));
    this.#server.create(resource.csiNodes, { metadata: { name }, spec: { drivers: entries } });
  }

  /**
   * A PersistentVolume and a claim, bound to each other. The claim allows the sets of stories: `data`, and that of its
   * own name.
   */
  boundClaim(name: string, { handle, driver, singleNode }: StoredVolume, labels = allowing("data", name)): void {
    const accessModes = [singleNode ? "ReadWriteOnce" : "ReadWriteMany"];
    const capacity = { storage: "1Gi" };
    const volumeName = `pv-${name}`;
    const spec = { accessModes, volumeMode: "Filesystem", resources: { requests: capacity }, volumeName };
    const claim = this.#server.create(resource.claims, { metadata: { name, namespace, labels }, spec });
    const status = { phase: "Bound", accessModes, capacity };
    this.#server.patch(resource.claims, name, { status }, { namespace, subresource: "status" });
    const claimRef = { namespace, name, uid: claim.metadata.uid };
    const csi = { driver: driver.name, volumeHandle: handle, fsType: "xfs" };
    const persistentVolume = { accessModes, volumeMode: "Filesystem", capacity, claimRef, csi };
    this.#server.create(resource.persistentVolumes, { metadata: { name: volumeName }, spec: persistentVolume });
  }

  /** config/policy is applied: of what it says the server does its part itself. */
  claimPolicies(): void {
    for (const name of ["nodevolume-claim-marks", "nodevolume-claims"]) {
      this.#server.create(resource.policies, { metadata: { name } });
    }
    for (const name of ["nodevolume-claim-marks", "nodevolume-claims", "nodevolume-claims-reserved"]) {
      this.#server.create(resource.policyBindings, { metadata: { name } });
    }
  }

  /** The storage system has grown the volume of a claim, and waits for the node. */
  grow(claim: string, volume: StoredVolume, capacityBytes: number): void {
    volume.capacityBytes = capacityBytes;
    const capacity = { storage: String(capacityBytes) };
    this.#server.patch(resource.persistentVolumes, `pv-${claim}`, { spec: { capacity } });
    const status = { conditions: [{ type: "FileSystemResizePending", status: "True" }] };
    this.#server.patch(resource.claims, claim, { status }, { namespace, subresource: "status" });
  }

  /** What the claim says of its size. */
  claimCapacity(claim: string): unknown {
    return at(this.#server.get(resource.claims, claim, namespace), "status", "capacity", "storage");
  }

  /** Whether the claim has our label. */
  isHeld(claim: string): boolean {
    return this.#server.get(resource.claims, claim, namespace)?.metadata.labels?.[label.held] !== undefined;
  }

  /** The owner of a claim keeps pods out of it, or lets them in again. */
  reserve(claim: string, reserved: boolean): void {
    const labels = { [label.reserved]: reserved ? "true" : null };
    this.#server.patch(resource.claims, claim, { metadata: { labels } }, { namespace });
  }

  /** The owner of a claim allows a set to use it, or no longer does. */
  allow(claim: string, set: string, allowed: boolean): void {
    const labels = { [allowedSetLabelPrefix + set]: allowed ? "true" : null };
    this.#server.patch(resource.claims, claim, { metadata: { labels } }, { namespace });
  }

  /** A pod that uses a claim; scheduled, or to be. @returns whether it was admitted */
  createPod(name: string, claimName: string, nodeName: string): boolean {
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName } }];
    try {
      this.#server.create(resource.pods, { metadata: { name, namespace }, spec: { nodeName, volumes } });
      return true;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  }

  /** Somebody deletes what is not theirs. */
  deleteAttachment(name: string): void {
    this.#server.delete(resource.volumeAttachments, name);
  }

  deletePod(name: string): void {
    if (this.#server.get(resource.pods, name, namespace) !== undefined) {
      this.#server.delete(resource.pods, name, namespace);
    }
  }
}
