import { statfsSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import { type MountIdentity, mountIdentity, relativePath, sameIdentity } from "../../mount-table/mount-table.ts";
import type { MountEntry } from "../../mount-table/mountinfo.ts";
import type {
  FileKind,
  FilesystemMount,
  Mounter,
  SourceInfo,
  SourcePath,
  UnmountMode,
} from "../../ports/host-ports.ts";
import type { MountAttributes, TargetPath } from "../../ports/types.ts";
import { holdDevice } from "../device/held-device.ts";
import { attachExactly } from "../path/exact-attach.ts";
import { removeExactly } from "../path/exact-remove.ts";
import { unmountExactly } from "../path/exact-unmount.ts";
import { openKnown } from "../path/known-walk.ts";
import * as walk from "../path/walk.ts";
import * as C from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf, unlessErrno } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { attributeBits, createFilesystemMount, reconfigureFilesystem } from "./filesystem-mount.ts";
import { type MountOf, mountOfByText } from "./mount-of.ts";

/**
 * Mounts by direct system calls on the calling thread, every path by descriptor. For paths and file systems that cannot
 * hang only; routed-mounter.ts decides which those are, and runs this same class in a disposable child for the others.
 */
export class InProcessMounter implements Mounter {
  readonly #libc: Libc;
  readonly #way: walk.Way;
  readonly #mountOf: MountOf;

  /**
   * @param way what a walk to a source may go through: links and unknown mounts may lead to a file system that hangs
   */
  constructor(libc: Libc, way: walk.Way, mountOf: MountOf = mountOfByText(libc)) {
    this.#libc = libc;
    this.#way = way;
    this.#mountOf = mountOf;
  }

  async inspect(source: SourcePath): Promise<SourceInfo | undefined> {
    using opened = walk.openSource(this.#libc, source, this.#way);
    if (opened === undefined) return undefined;
    const stat = this.#libc.statx(
      opened.fd,
      "",
      C.AT_EMPTY_PATH | (typeof this.#way === "object" ? C.AT_STATX_DONT_SYNC : 0),
    );
    const canonicalPath = opened.canonicalPath();
    const kind = walk.kindOf(stat);
    const device = kind === "blockDevice" || kind === "charDevice" ? { deviceNumber: stat.deviceNumber } : {};
    const mount = this.#mountUnder(opened, canonicalPath);
    const identity = mountIdentity(mount, relativePath(mount.point, canonicalPath));
    return { kind, canonicalPath, identity, fsType: mount.fsType, ...device };
  }

  async makeSource(source: SourcePath, kind: "directory" | "file", mode: number): Promise<void> {
    const parents = source.path.split("/").slice(1, -1);
    for (let depth = 1; depth <= parents.length; depth++) {
      this.#makeInRoot(source.root, `/${parents.slice(0, depth).join("/")}`, "directory", 0o755);
    }
    this.#makeInRoot(source.root, source.path, kind, mode);
  }

  async inspectTarget(target: TargetPath): Promise<{ kind: FileKind; mountID: number } | undefined> {
    using opened = this.#openTarget(target);
    return opened && { kind: walk.kindOf(opened.stat), mountID: opened.stat.mountID };
  }

  async makeTarget(target: TargetPath, kind: "directory" | "file"): Promise<void> {
    this.#refuseUnknown(target);
    using parent = walk.makeTargetParent(this.#libc, target);
    const name = walk.baseName(target.path);
    if (kind === "directory") walk.makeDirectoryAt(this.#libc, parent, name, 0o755);
    else this.#makeFileAt(parent, name, 0o644);
    using made = walk.openTarget(this.#libc, target);
    if (made !== undefined) refuseKind(target, walk.kindOf(made.stat), kind);
  }

  async removeTarget(target: TargetPath, kind: "directory" | "file"): Promise<void> {
    using opened = this.#openTarget(target);
    if (opened === undefined || opened.stat.mountRoot || walk.kindOf(opened.stat) !== kind) return;
    if (kind === "file" && opened.stat.size > 0) return;
    unlessErrno(["ENOENT", "ENOTEMPTY", "EBUSY", "EEXIST"], () => removeExactly(this.#libc, opened, kind));
  }

  async bind(
    source: SourcePath,
    expect: MountIdentity,
    target: TargetPath,
    attributes: MountAttributes,
  ): Promise<void> {
    using opened = walk.openSource(this.#libc, source, this.#way);
    if (opened === undefined) {
      throw new VolumeError("SourceNotFound", "final", `${source.path} is not there any more`);
    }
    const canonicalPath = opened.canonicalPath();
    const mount = this.#mountUnder(opened, canonicalPath);
    if (!sameIdentity(mountIdentity(mount, relativePath(mount.point, canonicalPath)), expect)) {
      throw new VolumeError("SetUpFailed", "transient", `${source.path} changed while it was being mounted`);
    }
    using clone = new Descriptor(
      this.#libc.openTree(opened.fd, "", C.AT_EMPTY_PATH | C.OPEN_TREE_CLONE | C.OPEN_TREE_CLOEXEC),
    );
    // Private before it is attached: neither the source's later submounts arrive here, nor ours there. On a shared
    // parent it becomes shared again, in a peer group of its own.
    const { set, clear } = attributeBits(attributes);
    this.#libc.mountSetattr(clone.fd, set, clear, C.MS.PRIVATE);
    this.#attach(clone, target);
  }

  async mountFilesystem(request: FilesystemMount): Promise<void> {
    using _held = await holdDevice(request);
    using mount = createFilesystemMount(this.#libc, request);
    this.#attach(mount, request.target);
  }

  async setAttributes(
    target: TargetPath,
    mountID: number,
    attributes: MountAttributes,
    uniqueID?: number,
  ): Promise<void> {
    using opened = this.#openMount(target, mountID, uniqueID);
    const { set, clear } = attributeBits(attributes);
    this.#libc.mountSetattr(opened.self.fd, set, clear, 0);
  }

  async sizeOf(source: SourcePath): Promise<number> {
    using opened = walk.openSource(this.#libc, source, this.#way);
    if (opened === undefined) throw new VolumeError("SourceNotFound", "final", `${source.path} is not there any more`);
    const { blocks, bsize } = statfsSync(opened.path);
    return blocks * bsize;
  }

  async reconfigure(target: TargetPath, mountID: number, options: readonly string[], uniqueID?: number): Promise<void> {
    using opened = this.#openMount(target, mountID, uniqueID);
    reconfigureFilesystem(this.#libc, opened.self, options);
  }

  async unmount(target: TargetPath, mountID: number, unmountMode: UnmountMode, uniqueID?: number): Promise<void> {
    // Waited for before the look: between that and the mark there is nothing to wait for.
    using _slot = unmountMode === "Lazy" ? undefined : await this.#libc.unmounts.take();
    await unmountExactly(this.#libc, target, this.#openMount(target, mountID, uniqueID), unmountMode);
  }

  #openTarget(target: TargetPath): walk.OpenTarget | undefined {
    this.#refuseUnknown(target);
    return walk.openTarget(this.#libc, target);
  }

  /**
   * Between prefix and target nothing is mounted; on the way to the prefix nothing that is not known.
   * @throws Errno EXDEV
   */
  #refuseUnknown({ prefix }: TargetPath): void {
    if (typeof this.#way !== "object") return;
    try {
      openKnown(this.#libc, prefix, this.#way)[Symbol.dispose]();
    } catch (error) {
      if (errnoOf(error) === "EXDEV") throw error; // of everything else the walk itself says what it means
    }
  }

  /** Attaches a detached mount to a target on which nothing is mounted. */
  #attach(mount: Descriptor, target: TargetPath): void {
    using opened = this.#openTarget(target);
    if (opened === undefined) throw new VolumeError("SetUpFailed", "transient", `${target.path} is not there any more`);
    if (opened.stat.mountRoot) {
      throw new VolumeError("ForeignMount", "final", `something is mounted on ${target.path} already`);
    }
    const kind = walk.kindOf(this.#libc.statx(mount.fd, "", C.AT_EMPTY_PATH | C.AT_STATX_DONT_SYNC));
    refuseKind(target, walk.kindOf(opened.stat), kind === "directory" ? "directory" : "file");
    attachExactly(this.#libc, mount, opened, target);
  }

  #mountUnder(opened: Descriptor, canonicalPath: string): MountEntry {
    const mount = this.#mountOf(opened);
    if (mount !== undefined) return mount;
    throw new VolumeError("SetUpFailed", "transient", `${canonicalPath} is in no mount of ours`);
  }

  #openMount(target: TargetPath, mountID: number, uniqueID: number | undefined): walk.OpenTarget {
    const opened = this.#openTarget(target);
    if (opened?.stat.mountRoot && opened.stat.mountID === mountID && this.#isUnique(opened, uniqueID)) return opened;
    opened?.[Symbol.dispose]();
    throw new VolumeError(
      "TargetChanged",
      "transient",
      `the mount on ${target.path} is not the one that was seen there`,
    );
  }

  /** Whether a mount has this id that is never used again, if both are known. */
  #isUnique({ self }: walk.OpenTarget, uniqueID: number | undefined): boolean {
    const found = uniqueID === undefined ? undefined : this.#libc.mounts.uniqueOf(self);
    return found === undefined || Number(found) === uniqueID;
  }

  #makeInRoot(root: string, path: string, kind: "directory" | "file", mode: number): void {
    using parent = walk.openSourceParent(this.#libc, { root, path }, this.#way);
    if (parent === undefined) throw new VolumeError("SourceNotFound", "final", `${walk.parentOf(path)} is not there`);
    if (kind === "file") this.#makeFileAt(parent, walk.baseName(path), mode);
    else walk.makeDirectoryAt(this.#libc, parent, walk.baseName(path), mode);
  }

  #makeFileAt(parent: Descriptor, name: string, mode: number): void {
    const flags = C.O.WRONLY | C.O.CREAT | C.O.EXCL | C.O.CLOEXEC;
    const resolve = C.RESOLVE.NO_SYMLINKS | C.RESOLVE.BENEATH;
    const fd = unlessErrno(["EEXIST"], () => this.#libc.openat2(parent.fd, name, flags, mode, resolve));
    if (fd !== undefined) new Descriptor(fd)[Symbol.dispose]();
  }
}

/** A directory can only be mounted on a directory, everything else only on a file. */
function refuseKind({ path }: TargetPath, present: FileKind, wanted: "directory" | "file"): void {
  if ((present === "directory") === (wanted === "directory")) return;
  const reason = wanted === "directory" ? "TargetNotDirectory" : "TargetNotFile";
  const message = `${path} is a ${present}, but a ${wanted} is to be mounted on it: move it away`;
  throw new VolumeError(reason, "final", message, { on: { kind: "Mount", name: path } });
}
