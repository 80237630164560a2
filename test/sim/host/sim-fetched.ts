import type { OperationContext } from "../../../src/host/ports/host-ports.ts";
import type { Images, UnpackRequest } from "../../../src/host/ports/images.ts";
import type { CheckOutRequest, Repositories } from "../../../src/host/ports/repositories.ts";
import { Errno } from "../kernel/errno.ts";
import { makeAt, makeIn, requireWritable } from "../kernel/files.ts";
import { existing } from "../kernel/lookup.ts";
import type { Path } from "../kernel/mount.ts";
import { type HostDeps, latency } from "./host-deps.ts";
import { inChild } from "./sim-child.ts";

/**
 * Servers that have every commit and every image; what is shown of one is a file that names it. One that is cut off
 * leaves what the real one does.
 */
export class SimFetched implements Repositories, Images {
  readonly #deps: HostDeps;
  readonly #operation: OperationContext;

  constructor(deps: HostDeps, operation: OperationContext) {
    this.#deps = deps;
    this.#operation = operation;
  }

  checkOut({ directory, revision }: CheckOutRequest, onProgress: (message: string) => void): Promise<void> {
    onProgress("Receiving objects: 100% (3/3)");
    return this.#fetch(directory, revision, ["repository"]);
  }

  unpack({ directory, from }: UnpackRequest, onProgress: (message: string) => void): Promise<void> {
    onProgress("layer 1 of 1");
    return this.#fetch(directory, "reference" in from ? from.reference : from.digest, []);
  }

  #fetch(directory: string, version: string, left: readonly string[]): Promise<void> {
    const at = existing(this.#deps.namespace, directory); // held: its agent may end, and the namespace with it
    return inChild(this.#deps, this.#operation, {
      what: `fetch ${version} to ${directory}`,
      changes: true,
      latency: latency.mkfs,
      apply: () => {
        for (const name of left) this.#make(at, name);
        const tree = this.#make(at, "tree");
        makeIn(this.#deps.machine.kernel, tree, "version", "file", 0o644).content = version;
      },
      cutOff: () => {
        for (const name of [...left, "new"]) this.#make(at, name);
      },
    });
  }

  #make(at: Path, name: string) {
    requireWritable(at.mount);
    if (at.dentry.children.has(name)) throw new Errno("EEXIST", `mkdirat ${name}`); // as the real one
    return makeAt(this.#deps.machine.kernel, at, name, "directory", 0o755);
  }
}
