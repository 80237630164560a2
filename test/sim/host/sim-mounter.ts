import { VolumeError } from "../../../src/errors.ts";
import { isLastOf, mayBlock } from "../../../src/host/mount-table/may-block.ts";
import { joinPath, sameIdentity } from "../../../src/host/mount-table/mount-table.ts";
import type {
  FileKind,
  FilesystemMount,
  Mounter,
  OperationContext,
  SourceInfo,
  SourcePath,
  UnmountMode,
} from "../../../src/host/ports/host-ports.ts";
import type { MountAttributes, TargetPath } from "../../../src/host/ports/types.ts";
import { codeOf } from "../kernel/errno.ts";
import { makeAt, removeAt } from "../kernel/files.ts";
import { existing, type Links, pathOf, rootOf, walk } from "../kernel/lookup.ts";
import type { Path } from "../kernel/mount.ts";
import { attachFilesystem, bindClone, reconfigureFilesystem } from "./filesystems.ts";
import { type HostDeps, latency } from "./host-deps.ts";
import { inChild } from "./sim-child.ts";
import { identify, kindOf, openTarget, walkToTarget } from "./targets.ts";

/**
 * Mounts on the simulated kernel, call by call as in-process-mounter.ts does on the real one, in a child where that
 * does.
 */
export class SimMounter implements Mounter {
  readonly #deps: HostDeps;
  readonly #operation: OperationContext;
  readonly #number: number;

  constructor(deps: HostDeps, operation: OperationContext, number: number) {
    this.#deps = deps;
    this.#operation = operation;
    this.#number = number;
  }

  inspect = (source: SourcePath): Promise<SourceInfo | undefined> =>
    this.#call(
      { what: `inspect ${source.path}`, path: source.path, hangs: this.#sourceHangs(source), changes: false },
      () => {
        const found = this.#openSource(source, "follow");
        if (found === undefined) return undefined;
        const identity = identify(found);
        const { disk } = found.dentry;
        return {
          kind: kindOf(found.dentry),
          canonicalPath: pathOf(found) ?? source.path,
          identity,
          fsType: disk === undefined ? found.mount.superblock.fsType : "devtmpfs",
          ...(disk !== undefined && { deviceNumber: disk.number }),
        };
      },
    );

  /** What is simulated has no size. */
  sizeOf = (source: SourcePath): Promise<number> =>
    this.#call({ what: `size of ${source.path}`, path: source.path, hangs: true, changes: false }, () => {
      const { mount } = existing(this.#deps.namespace, joined(source));
      return mount.superblock.disk?.filesystemBytes ?? 0;
    });

  makeSource = (source: SourcePath, kind: "directory" | "file", mode: number): Promise<void> =>
    this.#call({ what: `make source ${source.path}`, path: source.path, hangs: this.#sourceHangs(source) }, () => {
      const names = source.path.split("/").slice(1);
      names.forEach((name, index) => {
        const last = index === names.length - 1;
        const parent = this.#openParent({ root: source.root, path: `/${names.slice(0, index).join("/")}` });
        makeAt(this.#deps.machine.kernel, parent, name, last ? kind : "directory", last ? mode : 0o755);
      });
    });

  inspectTarget = (target: TargetPath): Promise<{ kind: FileKind; mountID: number } | undefined> =>
    this.#call({ what: `inspect target ${target.path}`, path: target.path, changes: false }, () => {
      const found = openTarget(this.#deps, target);
      return found && { kind: kindOf(found.dentry), mountID: found.mount.id };
    });

  makeTarget = (target: TargetPath, kind: "directory" | "file"): Promise<void> =>
    this.#call({ what: `make target ${target.path}`, path: target.path }, () => {
      const { parent, name } = walkToTarget(this.#deps, target, "make");
      makeAt(this.#deps.machine.kernel, parent, name, kind, kind === "directory" ? 0o755 : 0o644);
      const made = openTarget(this.#deps, target);
      if (made !== undefined) refuseKind(target, kindOf(made.dentry), kind);
    });

  removeTarget = (target: TargetPath, kind: "directory" | "file"): Promise<void> =>
    this.#call({ what: `remove target ${target.path}`, path: target.path }, () => {
      const found = openTarget(this.#deps, target);
      if (found === undefined || found.dentry === found.mount.root || kindOf(found.dentry) !== kind) return;
      if (kind === "file" && found.dentry.content !== "") return;
      const { parent, name } = walkToTarget(this.#deps, target, "make");
      try {
        removeAt(this.#deps.machine.kernel, this.#deps.namespace, parent, name, kind);
      } catch (error) {
        if (!["ENOENT", "ENOTEMPTY", "EBUSY"].includes(codeOf(error) ?? "")) throw error;
      }
    });

  /** Links are followed in a child only. */
  bind = (source: SourcePath, expect: SourceInfo["identity"], target: TargetPath, attributes: MountAttributes) => {
    const hangs = this.#pathHangs(joined(source)) || this.#pathHangs(target.path);
    return this.#call({ what: `bind ${source.path} on ${target.path}`, path: target.path, hangs }, () => {
      const found = this.#openSource(source, hangs ? "follow" : "refuse");
      if (found === undefined) throw new VolumeError("SourceNotFound", "final", `${source.path} is not there any more`);
      if (!sameIdentity(identify(found), expect)) {
        throw new VolumeError("SetUpFailed", "transient", `${source.path} changed while it was being mounted`);
      }
      bindClone(this.#deps, found, () => this.#free(target, kindOf(found.dentry)), attributes, target);
    });
  };

  mountFilesystem = (request: FilesystemMount): Promise<void> => {
    const { fsType, source, target } = request;
    const disk = fsType === "tmpfs" ? undefined : walk(rootOf(this.#deps.namespace), source, "follow")?.dentry.disk;
    const what = `mount ${fsType} ${source} on ${target.path} (${request.options.join(",")})`;
    return this.#call({ what, path: target.path, hangs: fsType !== "tmpfs", disk }, () =>
      attachFilesystem(this.#deps, request, disk, () => this.#free(target, "directory")),
    );
  };

  setAttributes = (
    target: TargetPath,
    mountID: number,
    attributes: MountAttributes,
    uniqueID?: number,
  ): Promise<void> =>
    this.#call({ what: `set attributes of ${target.path}`, path: target.path }, () => {
      const { mount } = this.#mountAt(target, mountID, uniqueID);
      mount.attributes = attributes;
      this.#deps.machine.kernel.version++;
      mount.namespace?.changed();
    });

  reconfigure = (target: TargetPath, mountID: number, options: readonly string[], uniqueID?: number): Promise<void> => {
    const mount = this.#table().at(target.path);
    const what = `reconfigure ${target.path} (${options.join(",")})`;
    return this.#call({ what, path: target.path, hangs: mount?.fsType !== "tmpfs" }, () =>
      reconfigureFilesystem(this.#deps, this.#mountAt(target, mountID, uniqueID).mount, options),
    );
  };

  unmount = (target: TargetPath, mountID: number, unmountMode: UnmountMode, uniqueID?: number): Promise<void> => {
    const table = this.#table();
    const hangs = mayBlock(table, target.path) || isLastOf(table, mountID);
    return this.#call({ what: `unmount ${target.path} (${mountID}, ${unmountMode})`, path: target.path, hangs }, () => {
      const { mount } = this.#mountAt(target, mountID, uniqueID);
      try {
        this.#deps.machine.kernel.tree.detach(mount, unmountMode === "Lazy");
      } catch (error) {
        if (codeOf(error) !== "EBUSY") throw error;
        throw new VolumeError("TargetBusy", "transient", `${target.path} is in use`, { cause: error });
      }
    });
  };

  /** The place to mount on. @throws VolumeError ForeignMount, TargetNotDirectory, TargetNotFile */
  #free(target: TargetPath, shown: FileKind): Path {
    const found = openTarget(this.#deps, target);
    if (found === undefined) throw new VolumeError("SetUpFailed", "transient", `${target.path} is not there any more`);
    if (found.dentry === found.mount.root) {
      throw new VolumeError("ForeignMount", "final", `something is mounted on ${target.path} already`);
    }
    refuseKind(target, kindOf(found.dentry), shown);
    return found;
  }

  #mountAt(target: TargetPath, mountID: number, uniqueID: number | undefined): Path {
    const found = openTarget(this.#deps, target);
    const same = found?.mount.id === mountID && (uniqueID === undefined || found.mount.uniqueID === uniqueID);
    if (found !== undefined && found.dentry === found.mount.root && same) return found;
    throw new VolumeError(
      "TargetChanged",
      "transient",
      `the mount on ${target.path} is not the one that was seen there`,
    );
  }

  #openSource(source: SourcePath, links: Links): Path | undefined {
    try {
      return walk(existing(this.#deps.namespace, source.root), source.path, source.links ?? links);
    } catch (error) {
      if (codeOf(error) === "ELOOP" && source.links !== undefined) {
        throw new VolumeError("SymlinkInPath", "final", `${joined(source)} leads through a symbolic link`);
      }
      if (codeOf(error) === "ENOTDIR") return undefined;
      throw error;
    }
  }

  /** Where a source is to be made. @throws VolumeError SymlinkInPath, SourceNotFound */
  #openParent(source: SourcePath): Path {
    try {
      const found = this.#openSource(source, "refuse");
      if (found !== undefined) return found;
    } catch (error) {
      if (codeOf(error) !== "ELOOP") throw error;
      throw new VolumeError("SymlinkInPath", "final", `${source.path} leads through a symbolic link`);
    }
    throw new VolumeError("SourceNotFound", "final", `${source.path} is not there`);
  }

  /** A path with a link on it counts as one that may lead anywhere. */
  #sourceHangs(source: SourcePath): boolean {
    if (this.#pathHangs(joined(source))) return true;
    try {
      walk(existing(this.#deps.namespace, source.root), source.path, "refuse");
      return false;
    } catch (error) {
      return codeOf(error) === "ELOOP";
    }
  }

  #pathHangs(path: string): boolean {
    return mayBlock(this.#table(), path);
  }

  #table() {
    return this.#deps.machine.table(this.#deps.namespace);
  }

  async #call<T>(
    call: { what: string; path: string; hangs?: boolean; changes?: boolean; disk?: Path["dentry"]["disk"] },
    apply: () => T,
  ): Promise<T> {
    const { incarnation, machine, onCall } = this.#deps;
    const { what, path, changes = true, disk } = call;
    onCall({ operation: this.#number, path });
    if (call.hangs ?? this.#pathHangs(path)) {
      return inChild(this.#deps, this.#operation, { what, changes, latency: latency.child, disk, apply });
    }
    const run = () => machine.kernel.as("agent", apply);
    return changes ? incarnation.effect(what, latency.call, run) : incarnation.look(latency.call, run);
  }
}

function joined(source: SourcePath): string {
  return joinPath(source.root, source.path.slice(1));
}

/** A directory can only be mounted on a directory, everything else only on a file. */
function refuseKind({ path }: TargetPath, present: FileKind, wanted: FileKind): void {
  if ((present === "directory") === (wanted === "directory")) return;
  const reason = wanted === "directory" ? "TargetNotDirectory" : "TargetNotFile";
  throw new VolumeError(
    reason,
    "final",
    `${path} is a ${present}, but a ${wanted} is to be mounted on it: move it away`,
  );
}
