import {
  type NodeExpandVolumeRequest,
  type NodeGetVolumeStatsRequest,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
  type NodeUnpublishVolumeRequest,
  type NodeUnstageVolumeRequest,
  VolumeUsage_Unit,
} from "../../../src/csi/gen/csi.gen.ts";
import { codeOf } from "../kernel/errno.ts";
import { makeDirectories, parentAndName, removeAt } from "../kernel/files.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { rootOf, walk } from "../kernel/lookup.ts";
import { type Path, plainAttributes } from "../kernel/mount.ts";
import type { Superblock } from "../kernel/superblock.ts";
import { RPCFailure } from "./rpc-failure.ts";
import type { DriverKind, Storage, StoredVolume } from "./storage.ts";

export interface NodeSideDeps {
  readonly kind: DriverKind;
  readonly storage: Storage;
  readonly node: string;
  readonly kernel: Kernel;
  readonly rules: NodeSideRules;
}

/** A mount that a driver takes away. */
export interface GoingMount {
  readonly node: string;
  readonly path: string;
  readonly what: "staged" | "published";
}

/** Told right before the driver does something. */
export interface NodeSideRules {
  /** Something of the volume is about to be mounted on a path of the node. */
  settingUp(volume: StoredVolume, node: string, path: string): void;
  /** The staged mount, or the mount that was published at a path, is about to go. */
  takingDown(volume: StoredVolume, filesystem: Superblock, at: GoingMount): void;
}

/**
 * What a CSI driver's node service does to the kernel of one boot, in the host's mount namespace. It remembers nothing
 * but the devices that it has set up: the rest it finds in the mount table, so that nothing is lost when it is killed.
 * All methods may be repeated, and throw RPCFailure.
 */
export class NodeSide {
  readonly #deps: NodeSideDeps;
  readonly #filesystems = new Map<string, Superblock>();

  constructor(deps: NodeSideDeps) {
    this.#deps = deps;
  }

  /** Whether the kernel has anything of the volume, in whatever namespace, or a process uses it. */
  holds(handle: string): boolean {
    return (this.#filesystems.get(handle)?.references ?? 0) > 0;
  }

  /** The file system of a volume as it is on this node; undefined if it is not set up here. */
  filesystem(handle: string): Superblock | undefined {
    return this.holds(handle) ? this.#filesystems.get(handle) : undefined;
  }

  stage(request: NodeStageVolumeRequest): void {
    const volume = this.#admit(request);
    const { kernel } = this.#deps;
    // The specification has it that the path is there; most drivers make what is missing.
    const at = makeDirectories(kernel, kernel.host, request.stagingTargetPath);
    if (this.#shows(at, volume.handle)) return;
    this.#mountVolume(volume, at, request.stagingTargetPath);
    // Once: what is staged already stays as it is, whatever it is asked for then.
    const group = request.volumeCapability?.mount?.volumeMountGroup ?? "";
    const root = this.filesystem(volume.handle)?.root;
    if (group !== "" && root !== undefined) root.gid = Number(group);
  }

  unstage({ volumeId, stagingTargetPath }: NodeUnstageVolumeRequest): void {
    this.#takeDown(volumeId, stagingTargetPath, "staged");
  }

  publish(request: NodePublishVolumeRequest): void {
    const { kernel, kind, rules, node } = this.#deps;
    const { volumeId, targetPath, stagingTargetPath, readonly: readOnly } = request;
    const volume = this.#admit(request);
    const staged = kind.stageUnstage ? this.#find(stagingTargetPath) : undefined;
    if (kind.stageUnstage && (staged === undefined || !this.#shows(staged, volumeId))) {
      throw new RPCFailure("FAILED_PRECONDITION", `${volumeId} is not staged at ${stagingTargetPath}`);
    }
    const at = makeDirectories(kernel, kernel.host, targetPath);
    if (this.#shows(at, volumeId)) {
      if (at.mount.attributes.readOnly === readOnly && kind.stacks !== true) return;
      if (kind.stacks === true) {
        kernel.attachNew(at.dentry, () => at, { attributes: at.mount.attributes, maker: "driver" });
        return;
      }
      throw new RPCFailure("ALREADY_EXISTS", `${volumeId} is published at ${targetPath} in another way`);
    }
    if (staged === undefined) {
      this.#mountVolume(volume, at, targetPath, readOnly);
      return;
    }
    rules.settingUp(volume, node, targetPath);
    const attributes = { ...plainAttributes, readOnly };
    kernel.attachNew(staged.dentry, () => at, { attributes, maker: "driver" });
  }

  unpublish({ volumeId, targetPath }: NodeUnpublishVolumeRequest): void {
    const { kernel } = this.#deps;
    this.#takeDown(volumeId, targetPath, "published");
    if (this.#find(targetPath) === undefined) return;
    const { parent, name } = parentAndName(kernel.host, targetPath);
    removeAt(kernel, kernel.host, parent, name, "directory");
  }

  /** @returns the capacity in bytes, a decimal number */
  expand({ volumeId, volumePath, capacityRange }: NodeExpandVolumeRequest): string {
    const volume = this.#volume(volumeId);
    const at = this.#find(volumePath);
    if (at === undefined || !this.#shows(at, volumeId)) {
      throw new RPCFailure("NOT_FOUND", `${volumeId} is not at ${volumePath}`);
    }
    if (Number(capacityRange?.requiredBytes) > volume.capacityBytes) {
      throw new RPCFailure("OUT_OF_RANGE", "the storage system has not grown it");
    }
    const disk = this.filesystem(volumeId)?.disk;
    if (disk !== undefined) disk.filesystemBytes = volume.capacityBytes;
    return String(volume.capacityBytes);
  }

  /** How large the file system is, if it is where the agent says. */
  stats({ volumeId, volumePath }: NodeGetVolumeStatsRequest): object[] {
    const at = this.#find(volumePath);
    if (at === undefined || !this.#shows(at, volumeId)) {
      throw new RPCFailure("NOT_FOUND", `${volumeId} is not at ${volumePath}`);
    }
    const total = String(this.filesystem(volumeId)?.disk?.filesystemBytes ?? 0);
    return [{ unit: VolumeUsage_Unit.BYTES, total, available: total, used: "0" }];
  }

  #volume(volumeId: string): StoredVolume {
    const volume = this.#deps.storage.volumes.get(volumeId);
    if (volume?.driver.name === this.#deps.kind.name) return volume;
    throw new RPCFailure("NOT_FOUND", `there is no volume ${volumeId}`);
  }

  /** The volume, if it may be set up here by who knows the secrets. */
  #admit({ volumeId, publishContext, secrets }: NodeStageVolumeRequest | NodePublishVolumeRequest): StoredVolume {
    const { kind, storage, node } = this.#deps;
    const volume = this.#volume(volumeId);
    if (kind.password !== undefined && secrets.get("password") !== kind.password) {
      throw new RPCFailure("UNAUTHENTICATED", `wrong password ${secrets.get("password")}`);
    }
    if (!kind.attach) return volume;
    if (!storage.nodesOf(volumeId).includes(node)) {
      throw new RPCFailure("FAILED_PRECONDITION", `${volumeId} is not attached to ${node}`);
    }
    if (publishContext.get("device") !== storage.publishContext(volumeId, node)["device"]) {
      throw new RPCFailure("INVALID_ARGUMENT", `publish_context names ${publishContext.get("device")}`);
    }
    return volume;
  }

  #mountVolume(volume: StoredVolume, at: Path, path: string, readOnly = false): void {
    const { kernel, storage, node, rules } = this.#deps;
    rules.settingUp(volume, node, path);
    const filesystem = this.filesystem(volume.handle) ?? storage.filesystemOn(kernel, volume);
    this.#filesystems.set(volume.handle, filesystem);
    if (filesystem.disk !== undefined) kernel.loops.set(filesystem.device, filesystem.disk);
    const attributes = { ...plainAttributes, readOnly };
    kernel.attachNew(filesystem.root, () => at, { attributes, maker: "driver" });
  }

  /** Unmounts what is of the volume at the path; several layers, if they are. */
  #takeDown(volumeId: string, path: string, what: GoingMount["what"]): void {
    const { kernel, rules, node, storage } = this.#deps;
    const volume = storage.volumes.get(volumeId);
    if (volume === undefined) return;
    for (let at = this.#find(path); at !== undefined && this.#shows(at, volumeId); at = this.#find(path)) {
      rules.takingDown(volume, at.mount.superblock, { node, path, what });
      try {
        kernel.tree.detach(at.mount, false);
      } catch (error) {
        throw new RPCFailure("INTERNAL", `umount ${path}: ${codeOf(error)}`);
      }
    }
  }

  #shows({ mount, dentry }: Path, handle: string): boolean {
    return dentry === mount.root && mount.superblock === this.#filesystems.get(handle);
  }

  #find(path: string): Path | undefined {
    return walk(rootOf(this.#deps.kernel.host), path, "follow");
  }
}
