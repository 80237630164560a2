import { hash } from "node:crypto";
import { type Resource, resource } from "../../../src/api/names.ts";
import { at } from "../api/json.ts";
import { type AttachmentView, attachmentView, attachmentViews } from "../invariants/attachment-view.ts";
import { makeDirectories } from "../kernel/files.ts";
import type { SimNode } from "../sim-node.ts";
import type { WorldParts } from "../world-parts.ts";
import { RPCFailure } from "./rpc-failure.ts";

const reactMs = { low: 5, high: 120 } as const;
const restartMs = { low: 200, high: 3_000 } as const;
const retryMs = 2_000;
const kubeletDir = "/var/lib/kubelet/plugins/kubernetes.io/csi";

/** A pod's need of a volume on a node. */
interface Need {
  readonly name: string;
  readonly driver: string;
  readonly handle: string;
  readonly node: string;
  readonly persistentVolume: string;
  readonly alone: boolean;
}

/**
 * Behaves like the attach/detach controller of kube-controller-manager 1.36 (pkg/controller/volume/attachdetach,
 * csi_attacher.go), with the kubelets that mount for it. At each of its starts it deletes, of every PersistentVolume's
 * attachment that none of its pods needs, the one that has its own computed name; others it only takes for uncertain,
 * and they hold nothing back.
 */
export class SimKubeControllerManager {
  readonly #parts: WorldParts;
  readonly #nodes: ReadonlyMap<string, SimNode>;
  #running = true;
  #pending = false;

  constructor(parts: WorldParts, nodes: ReadonlyMap<string, SimNode>) {
    this.#parts = parts;
    this.#nodes = nodes;
  }

  stored(of: Resource): void {
    if (of === resource.pods || of === resource.volumeAttachments) this.#soon(reactMs);
  }

  /** It is killed, and started again. @param afterMs milliseconds until then */
  kill(afterMs?: number): void {
    const { trace, scheduler, random } = this.#parts;
    trace.add("kcm", "killed");
    this.#running = false;
    scheduler.after(afterMs ?? random.between(restartMs.low, restartMs.high), () => {
      if (this.#running) return;
      this.#running = true;
      this.#start();
    });
  }

  #start(): void {
    this.#parts.trace.add("kcm", "starts");
    const needed = new Set(this.#needs().map(({ name }) => name));
    for (const attachment of attachmentViews(this.#parts.server)) {
      const name = nameOf(attachment.attacher, attachment.handle, attachment.node);
      if (needed.has(name)) continue;
      if (name === attachment.name) this.#unmount(attachment); // kubelet has, meanwhile
      this.#delete(name);
    }
    this.#soon(reactMs);
  }

  #soon({ low, high }: { low: number; high: number }): void {
    if (this.#pending) return;
    this.#pending = true;
    this.#parts.scheduler.after(this.#parts.random.between(low, high), () => {
      this.#pending = false;
      if (!this.#running) return;
      if (this.#parts.network.down > 0) this.#soon({ low: retryMs, high: retryMs });
      else this.#reconcile();
    });
  }

  /** All detaches before any attach. */
  #reconcile(): void {
    const needs = this.#needs();
    const needed = new Set(needs.map(({ name }) => name));
    let again = false;
    for (const attachment of attachmentViews(this.#parts.server)) {
      if (!attachment.name.startsWith("csi-") || needed.has(attachment.name) || attachment.deleting) continue;
      if (this.#unmount(attachment)) this.#delete(attachment.name);
      else again = true;
    }
    for (const need of needs) again = this.#attachAndMount(need) || again;
    if (again) this.#soon({ low: retryMs, high: retryMs });
  }

  /** @returns whether to look again */
  #attachAndMount(need: Need): boolean {
    const { server } = this.#parts;
    const known = attachmentView(server, need.name);
    if (known !== undefined) return known.attached && !known.deleting && !this.#mount(need);
    const elsewhere = attachmentViews(server).some(
      ({ name, handle, node, attached }) =>
        name.startsWith("csi-") && handle === need.handle && node !== need.node && attached,
    );
    if (need.alone && elsewhere) return true;
    const source = { persistentVolumeName: need.persistentVolume };
    const spec = { attacher: need.driver, nodeName: need.node, source };
    server.as("kcm", () => server.create(resource.volumeAttachments, { metadata: { name: need.name }, spec }));
    return false;
  }

  /** What kubelet does. @returns whether it is mounted */
  #mount({ driver, handle, node }: Need): boolean {
    const { machine, drivers } = this.#nodes.get(node) ?? {};
    if (machine === undefined) return false;
    const stagingTargetPath = `${kubeletDir}/${handle}/globalmount`;
    const publishContext = new Map(Object.entries(this.#parts.storage.publishContext(handle, node)));
    const nothing = { secrets: new Map(), volumeContext: new Map(), volumeCapability: undefined };
    try {
      machine.kernel.as("driver", () => {
        makeDirectories(machine.kernel, machine.kernel.host, stagingTargetPath);
        drivers?.get(driver)?.side.stage({ volumeId: handle, stagingTargetPath, publishContext, ...nothing });
      });
      return true;
    } catch (error) {
      if (error instanceof RPCFailure) return false;
      throw error;
    }
  }

  #unmount({ attacher, handle, node }: AttachmentView): boolean {
    const { machine, drivers } = this.#nodes.get(node) ?? {};
    if (machine === undefined) return true;
    const stagingTargetPath = `${kubeletDir}/${handle}/globalmount`;
    try {
      machine.kernel.as("driver", () => drivers?.get(attacher)?.side.unstage({ volumeId: handle, stagingTargetPath }));
      return true;
    } catch (error) {
      if (error instanceof RPCFailure) return false;
      throw error;
    }
  }

  #delete(name: string): void {
    const { server } = this.#parts;
    if (server.get(resource.volumeAttachments, name) === undefined) return;
    server.as("kcm", () => server.delete(resource.volumeAttachments, name));
  }

  #needs(): Need[] {
    const { server } = this.#parts;
    return server.list(resource.pods).flatMap(({ metadata, ...pod }) => {
      const node = at(pod, "spec", "nodeName");
      const [volume] = (at(pod, "spec", "volumes") ?? []) as readonly unknown[];
      const claimName = at(volume, "persistentVolumeClaim", "claimName");
      const claim = server.get(resource.claims, String(claimName), metadata.namespace);
      const persistentVolume = String(at(claim, "spec", "volumeName"));
      const spec = at(server.get(resource.persistentVolumes, persistentVolume), "spec");
      if (typeof node !== "string" || spec === undefined) return [];
      const [driver, handle] = [String(at(spec, "csi", "driver")), String(at(spec, "csi", "volumeHandle"))];
      const modes = at(spec, "accessModes") as readonly string[];
      const alone = modes.every((mode) => mode === "ReadWriteOnce" || mode === "ReadWriteOncePod");
      return [{ name: nameOf(driver, handle, node), driver, handle, node, persistentVolume, alone }];
    });
  }
}

/** As csi_attacher.go computes it (getAttachmentName). */
function nameOf(driver: string, handle: string, node: string): string {
  return `csi-${hash("sha256", `${handle}${driver}${node}`, "hex")}`;
}
