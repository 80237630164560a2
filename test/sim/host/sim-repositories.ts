import type { OperationContext } from "../../../src/host/ports.ts";
import type { CheckOutRequest, Repositories } from "../../../src/host/repositories.ts";
import { Errno } from "../kernel/errno.ts";
import { makeAt, makeIn, requireWritable } from "../kernel/files.ts";
import { existing } from "../kernel/lookup.ts";
import type { Path } from "../kernel/mount.ts";
import { type HostDeps, latency } from "./host-deps.ts";
import { inChild } from "./sim-child.ts";

/** A server that has every commit; its tree is a file that names it. One that is cut off leaves what it was made from. */
export class SimRepositories implements Repositories {
  readonly #deps: HostDeps;
  readonly #operation: OperationContext;

  constructor(deps: HostDeps, operation: OperationContext) {
    this.#deps = deps;
    this.#operation = operation;
  }

  async checkOut(request: CheckOutRequest, onProgress: (message: string) => void): Promise<void> {
    const at = existing(this.#deps.namespace, request.directory); // held: its agent may end, and the namespace with it
    onProgress("Receiving objects: 100% (3/3)");
    await inChild(this.#deps, this.#operation, {
      what: `check ${request.revision} out to ${request.directory}`,
      changes: true,
      latency: latency.mkfs,
      apply: () => {
        this.#make(at, "repository");
        const tree = this.#make(at, "tree");
        tree.content = request.revision;
        makeIn(this.#deps.machine.kernel, tree, "revision", "file", 0o644).content = request.revision;
      },
      cutOff: () => {
        this.#make(at, "repository");
        this.#make(at, "new");
      },
    });
  }

  #make(at: Path, name: string) {
    const { kernel } = this.#deps.machine;
    requireWritable(at.mount);
    if (at.dentry.children.has(name)) throw new Errno("EEXIST", `mkdirat ${name}`); // as the real one
    return makeAt(kernel, at, name, "directory", 0o755);
  }
}
