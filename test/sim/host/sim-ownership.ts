import { VolumeError } from "../../../src/errors.ts";
import type { OperationContext } from "../../../src/host/ports/host-ports.ts";
import type { Ownership, OwnershipRequest, OwnershipResult } from "../../../src/host/ports/ownership.ts";
import type { Dentry } from "../kernel/dentry.ts";
import { existing } from "../kernel/lookup.ts";
import { type HostDeps, latency } from "./host-deps.ts";
import { inChild } from "./sim-child.ts";

/** The group of files on the simulated kernel. One that is cut off has given some of them away, and not the root. */
export class SimOwnership implements Ownership {
  readonly #deps: HostDeps;
  readonly #operation: OperationContext;

  constructor(deps: HostDeps, operation: OperationContext) {
    this.#deps = deps;
    this.#operation = operation;
  }

  async give(request: OwnershipRequest, onProgress: (entries: number) => void): Promise<OwnershipResult> {
    const { path, fsGroup, policy } = request;
    const begun = this.#root(request);
    const result = await inChild(this.#deps, this.#operation, {
      what: `give ${path} to ${fsGroup} (${policy})`,
      changes: true,
      latency: latency.mkfs,
      apply: () => {
        const root = this.#root(request);
        if (policy === "OnRootMismatch" && root.gid === fsGroup) return 0;
        return this.#give([...beneath(root), root], fsGroup);
      },
      cutOff: () => {
        const entries = [...beneath(begun)];
        this.#give(entries.slice(0, entries.length / 2), fsGroup);
      },
    });
    onProgress(result);
    return { entries: result, failed: 0, examples: [] };
  }

  #root({ path, mountID, device, directory }: OwnershipRequest): Dentry {
    const { mount, dentry } = existing(this.#deps.namespace, path);
    const same = directory === undefined ? dentry === mount.root : dentry.path === directory;
    if (mount.id === mountID && same && mount.superblock.device === device) return dentry;
    throw new VolumeError("TargetChanged", "transient", `${path} is not the file or directory that was checked`);
  }

  #give(entries: readonly Dentry[], gid: number): number {
    for (const entry of entries) entry.gid = gid;
    this.#deps.machine.kernel.version++;
    return entries.length;
  }
}

/** Everything in a directory, what is in it before itself. */
function* beneath(directory: Dentry): Generator<Dentry> {
  for (const child of directory.children.values()) {
    yield* beneath(child);
    yield child;
  }
}
