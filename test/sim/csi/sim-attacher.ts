import { resource } from "../../../src/api/names.ts";
import { type AttachmentView, attachmentView } from "../invariants/attachment-view.ts";
import type { WorldParts } from "../world-parts.ts";
import { nodeIDOf } from "./serve.ts";
import type { DriverKind, Storage } from "./storage.ts";

const reactMs = { low: 2, high: 40 } as const;
const workMs = { low: 5, high: 400 } as const;
const restartMs = { low: 200, high: 3_000 } as const;
/** external-attacher's backoff, of which the sidecar's own default is up to five minutes. */
const retryMs = { first: 1_000, most: 60_000 } as const;

/**
 * Behaves like external-attacher v4.13 (pkg/controller/csi_handler.go) with the controller side of a driver, for one
 * driver: finalizer, ControllerPublishVolume, `attached: true` with what the driver said; on deletion
 * ControllerUnpublishVolume, and only then the finalizer goes. It keeps nothing: after a restart it looks at everything
 * again.
 */
export class SimAttacher {
  readonly #kind: DriverKind;
  readonly #storage: Storage;
  readonly #parts: WorldParts;
  readonly #busy = new Set<string>();
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  #run = 0;

  constructor(kind: DriverKind, storage: Storage, parts: WorldParts) {
    this.#kind = kind;
    this.#storage = storage;
    this.#parts = parts;
  }

  /** A VolumeAttachment was written. */
  changed(name: string): void {
    this.#later(reactMs, () => this.#sync(name));
  }

  /** It ends, with what it was about to do, and is started again. */
  kill(): void {
    const { scheduler, random, trace } = this.#parts;
    trace.add("attacher", "killed");
    const run = ++this.#run;
    this.#busy.clear();
    this.#again.clear();
    this.#failures.clear();
    scheduler.after(random.between(restartMs.low, restartMs.high), () => {
      if (run !== this.#run) return;
      for (const { metadata } of this.#parts.server.list(resource.volumeAttachments)) this.#sync(metadata.name);
    });
  }

  #sync(name: string): void {
    if (this.#busy.has(name)) {
      this.#again.add(name);
      return;
    }
    const attachment = attachmentView(this.#parts.server, name);
    if (attachment === undefined || attachment.attacher !== this.#kind.name) return;
    const held = attachment.finalizers.includes(this.#finalizer);
    if (attachment.deleting ? !held : attachment.attached) return;
    this.#busy.add(name);
    if (this.#parts.network.down > 0) this.#retry(name);
    else if (attachment.deleting) this.#detach(attachment);
    else this.#attach(attachment);
  }

  get #finalizer(): string {
    return `external-attacher/${this.#kind.name.replaceAll(".", "-")}`;
  }

  #attach({ name, finalizers, handle, node }: AttachmentView): void {
    const annotations = { "csi.alpha.kubernetes.io/node-id": nodeIDOf(node) };
    const metadata = { annotations, finalizers: [...new Set([...finalizers, this.#finalizer])] };
    if (!this.#write(name, { metadata })) return;
    this.#work(() => {
      const { random, trace, sightings } = this.#parts;
      const elsewhere = this.#storage.nodesOf(handle).filter((other) => other !== node);
      const volume = this.#storage.volumes.get(handle);
      if (volume === undefined) this.#failed(name, "attachError", `there is no volume ${handle}`);
      else if (volume.singleNode && elsewhere.length > 0) {
        this.#failed(name, "attachError", `${handle} is attached to ${elsewhere.join()}`);
      } else if (this.#parts.attacherFails()) {
        sightings.add("attacher", "attachError");
        if (random.chance(0.5)) this.#storage.publish(handle, node); // it was done, and its answer got lost
        this.#failed(name, "attachError", `planned fault: ${"x".repeat(random.below(3000))}`);
      } else {
        trace.add("attacher", `ControllerPublish ${handle} to ${node}`);
        this.#storage.publish(handle, node);
        const attachmentMetadata = this.#storage.publishContext(handle, node);
        this.#work(() => {
          if (this.#report(name, { attached: true, attachmentMetadata, attachError: null })) this.#done(name);
        });
      }
    });
  }

  #detach({ name, handle, node }: AttachmentView): void {
    this.#work(() => {
      const { invariants, trace, sightings } = this.#parts;
      if (this.#parts.attacherFails()) {
        sightings.add("attacher", "detachError");
        this.#failed(name, "detachError", "planned fault");
        return;
      }
      trace.add("attacher", `ControllerUnpublish ${handle} from ${node}`);
      invariants.attachments.detaching(handle, node);
      this.#storage.unpublish(handle, node);
      this.#work(() => {
        const left = attachmentView(this.#parts.server, name)?.finalizers ?? [];
        const finalizers = left.filter((finalizer) => finalizer !== this.#finalizer);
        this.#write(name, {
          status: { attached: false, attachmentMetadata: null, detachError: null },
          metadata: { finalizers },
        });
        this.#done(name);
      });
    });
  }

  #failed(name: string, field: "attachError" | "detachError", message: string): void {
    const time = new Date(this.#parts.scheduler.clock.now()).toISOString();
    if (this.#report(name, { attached: false, [field]: { message, time } })) this.#retry(name);
  }

  #retry(name: string): void {
    const failures = (this.#failures.get(name) ?? 0) + 1;
    this.#failures.set(name, failures);
    const ms = Math.min(retryMs.most, retryMs.first * 2 ** Math.min(failures - 1, 10));
    this.#later({ low: ms, high: ms }, () => this.#done(name, true));
  }

  #done(name: string, again = false): void {
    this.#busy.delete(name);
    if (!again) this.#failures.delete(name);
    if (this.#again.delete(name) || again) this.#sync(name);
  }

  #report(name: string, status: object): boolean {
    return this.#write(name, { status }, "status");
  }

  /** @returns whether it was written; if not, it is tried again from the beginning */
  #write(name: string, patch: object, subresource?: "status"): boolean {
    const { server, network } = this.#parts;
    const options = subresource === undefined ? {} : { subresource };
    try {
      if (network.down > 0) throw new Error("connection refused");
      server.as("attacher", () => server.patch(resource.volumeAttachments, name, patch, options));
      return true;
    } catch {
      this.#retry(name);
      return false;
    }
  }

  /** Something that takes the driver or the network a while; it ends with the process. */
  #work(action: () => void): void {
    this.#later(workMs, action);
  }

  #later({ low, high }: { low: number; high: number }, action: () => void): void {
    const run = this.#run;
    this.#parts.scheduler.after(this.#parts.random.between(low, high), () => {
      if (run === this.#run) action();
    });
  }
}
