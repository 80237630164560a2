import type { Directories, DirectoryID, PayloadFile } from "../../../src/host/ports.ts";
import type { Dentry } from "../kernel/dentry.ts";
import { codeOf } from "../kernel/errno.ts";
import { makeAt, makeDirectories, makeIn, parentAndName, remove, removeAt, rename } from "../kernel/files.ts";
import { existing, fileAt, rootOf, walk } from "../kernel/lookup.ts";
import { layout } from "../machine.ts";
import { type HostDeps, latency } from "./host-deps.ts";

const trash = `${layout.stateDir}/trash`;

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
      made.mode = mode;
      return idOf(made);
    });
  }

  identify(path: string): Promise<DirectoryID | undefined> {
    return this.#deps.incarnation.look(latency.call, () => {
      const found = this.#find(path);
      return found && idOf(found);
    });
  }

  writePayload(directory: string, files: readonly PayloadFile[]): Promise<boolean> {
    return this.#effect(`write payload ${directory}`, () => {
      const target = this.#find(directory);
      if (target === undefined) throw new Error(`${directory}: ENOENT`);
      const text = (file: PayloadFile) => new TextDecoder().decode(file.content);
      const shown = [...target.children.values()];
      const same =
        shown.length === files.length && files.every((file) => target.children.get(file.path)?.content === text(file));
      if (same) return false;
      for (const child of shown) {
        this.#deps.machine.kernel.listener.removed(child, "agent");
        child.unlink();
      }
      for (const file of files) {
        makeIn(this.#deps.machine.kernel, target, file.path, "file", file.mode).content = text(file);
      }
      return true;
    });
  }

  remove(path: string): Promise<void> {
    return this.#effect(`remove directory ${path}`, () => {
      const { kernel } = this.#deps.machine;
      try {
        const { parent, name } = parentAndName(this.#deps.namespace, path);
        removeAt(kernel, this.#deps.namespace, parent, name, "directory");
      } catch (error) {
        if (!["ENOENT", "ENOTEMPTY", "EBUSY"].includes(codeOf(error) ?? "")) throw error;
      }
    });
  }

  discard(path: string, id: DirectoryID): Promise<void> {
    return this.#effect(`discard ${path}`, () => {
      const found = this.#find(path);
      if (found === undefined || idOf(found).inode !== id.inode || idOf(found).device !== id.device) return;
      const { kernel } = this.#deps.machine;
      this.#make(trash).mode = 0o700;
      const name = `${id.inode}.${kernel.version}.${this.#sequence++}`;
      const parent = existing(this.#deps.namespace, trash);
      rename(kernel, this.#deps.namespace, parentAndName(this.#deps.namespace, path), { parent, name });
      kernel.listener.removed(found, kernel.actor);
    });
  }

  emptyTrash(): Promise<void> {
    return this.#effect("empty trash", () => {
      const found = this.#find(trash);
      if (found !== undefined) this.#empty(found);
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

  #make(path: string): Dentry {
    const { machine, namespace } = this.#deps;
    const cut = path.lastIndexOf("/");
    makeDirectories(machine.kernel, namespace, path.slice(0, cut), 0o700);
    const { parent, name } = parentAndName(namespace, path);
    makeAt(machine.kernel, parent, name, "directory", 0o700);
    return fileAt(namespace, path);
  }

  #find(path: string): Dentry | undefined {
    return walk(rootOf(this.#deps.namespace), path, "keepLast")?.dentry;
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
