import { VolumeError } from "../../../src/errors.ts";
import type { Directories, DirectoryID, PayloadFile } from "../../../src/host/ports/host-ports.ts";
import type { Dentry } from "../kernel/dentry.ts";
import { codeOf, Errno } from "../kernel/errno.ts";
import { makeAt, makeIn, remove, removeAt, rename, requireWritable } from "../kernel/files.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { rootOf, topOf, walk } from "../kernel/lookup.ts";
import type { Namespace, Path } from "../kernel/mount.ts";
import { layout } from "../machine.ts";
import { type HostDeps, latency } from "./host-deps.ts";

const trash = `${layout.stateDir}/trash`;

/** Content of a directory that the atomic writer has written to: stands for its link to the data. */
const payload = "..data";

/** Directories beneath the state directory. */
export class SimDirectories implements Directories {
  readonly #deps: HostDeps;
  #sequence = 0;

  constructor(deps: HostDeps) {
    this.#deps = deps;
  }

  make(path: string, mode: number): Promise<DirectoryID> {
    return this.#effect(`make directory ${path}`, () => {
      const made = this.#make(path);
      requireWritable(made.mount);
      made.dentry.mode = mode;
      return idOf(made.dentry);
    });
  }

  /** The simulated disk has no quotas, as most have not. */
  limit(path: string): Promise<void> {
    return this.#deps.incarnation.look(latency.call, () => {
      throw new VolumeError("QuotaUnsupported", "final", `the file system of ${path} keeps no project quota`);
    });
  }

  /** Nothing here has a log. */
  async emptyIfLarger(): Promise<void> {}

  identify(path: string): Promise<DirectoryID | undefined> {
    return this.#deps.incarnation.look(latency.call, () => {
      const found = this.#try(path, () => this.#find(path));
      return found && idOf(found);
    });
  }

  writePayload(directory: string, files: readonly PayloadFile[], fsGroup = 0): Promise<boolean> {
    return this.#effect(`write payload ${directory}`, () => {
      const { mount, dentry: target } = this.#directory(directory);
      const { kernel } = this.#deps.machine;
      const same = target.content === payload && target.gid === fsGroup && isShown(target, files);
      if (!same) requireWritable(mount);
      const names = new Set(files.map(({ path }) => path.split("/", 1)[0]));
      for (const child of [...target.children.values()]) {
        if (!same || !names.has(child.name)) removeTree(kernel, this.#deps.namespace, child);
      }
      if (same) return false;
      target.content = payload;
      for (const file of files) makeFile(kernel, target, file);
      for (const file of [target, ...filesIn(target)]) file.gid = fsGroup;
      return true;
    });
  }

  remove(path: string): Promise<void> {
    return this.#effect(`remove directory ${path}`, () => {
      const { kernel } = this.#deps.machine;
      try {
        const { above, name } = split(path);
        removeAt(kernel, this.#deps.namespace, this.#directory(above), name, "directory");
      } catch (error) {
        if (!["ENOENT", "ENOTEMPTY", "EBUSY"].includes(codeOf(error) ?? "")) throw error;
      }
    });
  }

  discard(path: string, id: DirectoryID): Promise<void> {
    return this.#effect(`discard ${path}`, () => {
      const found = this.#try(path, () => this.#find(path));
      if (found === undefined || idOf(found).inode !== id.inode || idOf(found).device !== id.device) return;
      const { kernel } = this.#deps.machine;
      this.#make(trash).dentry.mode = 0o700;
      const to = { parent: this.#directory(trash), name: `${id.inode}.${kernel.version}.${this.#sequence++}` };
      const from = split(path);
      rename(kernel, this.#deps.namespace, { parent: this.#directory(from.above), name: from.name }, to);
      kernel.listener.removed(found, kernel.actor);
    });
  }

  emptyTrash(): Promise<void> {
    return this.#effect("empty trash", () => {
      const found = this.#find(trash);
      if (found === undefined) return;
      this.#empty(found);
      if (found.children.size === 0) return;
      throw new VolumeError(
        "TearDownFailed",
        "transient",
        `some of what was thrown away cannot be removed from ${trash}`,
      );
    });
  }

  /** What is still mounted on, here, stays, and its path with it. */
  #empty(directory: Dentry): void {
    for (const child of [...directory.children.values()]) {
      this.#empty(child);
      try {
        remove(this.#deps.machine.kernel, this.#deps.namespace, child);
      } catch (error) {
        if (!["ENOTEMPTY", "EBUSY"].includes(codeOf(error) ?? "")) throw error;
      }
    }
  }

  /** Each directory of the path, made if it is missing. */
  #make(path: string): Path {
    const { machine } = this.#deps;
    return path
      .slice(layout.stateDir.length)
      .split("/")
      .filter((segment) => segment !== "")
      .reduce(
        ({ at, above }, name) => {
          makeAt(machine.kernel, at, name, "directory", 0o700);
          return { at: this.#directory(`${above}/${name}`), above: `${above}/${name}` };
        },
        { at: this.#directory(layout.stateDir), above: layout.stateDir as string },
      ).at;
  }

  /** The directory at a path without links. @throws VolumeError SymlinkInPath, TargetNotDirectory; Errno ENOENT */
  #directory(path: string): Path {
    return this.#try(path, () => {
      const found = walk(rootOf(this.#deps.namespace), path, "refuse");
      if (found === undefined) throw new Errno("ENOENT", path);
      if (found.dentry.kind !== "directory") throw new Errno("ENOTDIR", path);
      return found;
    });
  }

  #find(path: string): Dentry | undefined {
    const { above, name } = split(path);
    const parent = walk(rootOf(this.#deps.namespace), above, "refuse");
    if (parent !== undefined && parent.dentry.kind !== "directory") throw new Errno("ENOTDIR", path);
    const child = parent?.dentry.children.get(name);
    return parent && child && topOf({ mount: parent.mount, dentry: child }).dentry;
  }

  #try<T>(path: string, look: () => T): T {
    try {
      return look();
    } catch (error) {
      if (codeOf(error) === "ELOOP") throw new VolumeError("SymlinkInPath", "final", `${path} leads through a link`);
      if (codeOf(error) === "ENOTDIR") throw new VolumeError("TargetNotDirectory", "final", `${path} is no directory`);
      throw error;
    }
  }

  #effect<T>(what: string, apply: () => T): Promise<T> {
    const { incarnation, machine } = this.#deps;
    return incarnation.effect(what, latency.call, () => machine.kernel.as("agent", apply));
  }
}

/** st_dev as glibc makes it of major and minor, as far as these are small. */
function idOf(dentry: Dentry): DirectoryID {
  const [major = 0, minor = 0] = dentry.superblock.device.split(":").map(Number);
  return { device: major * 256 + minor, inode: dentry.inode };
}

function split(path: string): { readonly above: string; readonly name: string } {
  const cut = path.lastIndexOf("/");
  return { above: path.slice(0, cut), name: path.slice(cut + 1) };
}

function isShown(directory: Dentry, files: readonly PayloadFile[]): boolean {
  const shown = [...directory.children.values()].flatMap(filesIn);
  return (
    shown.length === files.length &&
    files.every(({ path, content, mode }) => {
      const file = path.split("/").reduce<Dentry | undefined>((at, name) => at?.children.get(name), directory);
      return file?.content === new TextDecoder().decode(content) && file.mode === mode;
    })
  );
}

function filesIn(dentry: Dentry): Dentry[] {
  return dentry.kind === "directory" ? [...dentry.children.values()].flatMap(filesIn) : [dentry];
}

function makeFile(kernel: Kernel, directory: Dentry, { path, content, mode }: PayloadFile): void {
  const names = path.split("/");
  const name = names.pop() ?? "";
  const parent = names.reduce((at, segment) => makeIn(kernel, at, segment, "directory", 0o755), directory);
  makeIn(kernel, parent, name, "file", mode).content = new TextDecoder().decode(content);
}

function removeTree(kernel: Kernel, namespace: Namespace, dentry: Dentry): void {
  for (const child of [...dentry.children.values()]) removeTree(kernel, namespace, child);
  remove(kernel, namespace, dentry);
}
