import type { MountPath } from "../model/identities.ts";
/**
 * The pod targets that kubelet has published, and those that it has unpublished. Targets with a record in the journal
 * count as published: kubelet does not repeat its call after a restart of the agent.
 *
 *  publish ─► open ─► unpublish ─► closing ─► nothing is left ─► forgotten
 */
export class OpenPods {
  readonly #open = new Set<MountPath>();
  readonly #closing = new Set<MountPath>();

  isOpen(path: MountPath): boolean {
    return this.#open.has(path);
  }

  /** Unpublished by kubelet, and not known to be gone yet. Changed in place. */
  get closing(): ReadonlySet<MountPath> {
    return this.#closing;
  }

  open(path: MountPath): void {
    this.#closing.delete(path);
    this.#open.add(path);
  }

  close(path: MountPath): void {
    this.#open.delete(path);
    this.#closing.add(path);
  }

  forget(path: MountPath): void {
    this.#open.delete(path);
    this.#closing.delete(path);
  }
}
