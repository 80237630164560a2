/**
 * Which targets of pods kubelet has asked for, and which it has given back. What the journal has a record of is asked
 * for as well: kubelet does not say it again after a restart of the agent.
 *
 *   publish ─► open ─► unpublish ─► closing ─► nothing is left ─► forgotten
 */
export class OpenPods {
  readonly #open = new Set<string>();
  readonly #closing = new Set<string>();

  isOpen(path: string): boolean {
    return this.#open.has(path);
  }

  /** Given back by kubelet, and not known to be gone yet. Changed in place. */
  get closing(): ReadonlySet<string> {
    return this.#closing;
  }

  open(path: string): void {
    this.#closing.delete(path);
    this.#open.add(path);
  }

  close(path: string): void {
    this.#open.delete(path);
    this.#closing.add(path);
  }

  forget(path: string): void {
    this.#open.delete(path);
    this.#closing.delete(path);
  }
}
