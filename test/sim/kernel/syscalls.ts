import type { MountAttributes } from "../../../src/host/ports/types.ts";
import type { Maker } from "./dentry.ts";
import { Errno } from "./errno.ts";
import { makeAt, parentAndName, removeAt, rename, requireWritable } from "./files.ts";
import type { Kernel } from "./kernel.ts";
import { existing, rootOf, walk } from "./lookup.ts";
import { type Mount, type Namespace, type Path, plainAttributes } from "./mount.ts";
import { subtree } from "./mount-relations.ts";

export type Propagation = "shared" | "slave" | "private";

/** What anybody in a namespace may ask of the kernel, with the errors that Linux gives. Paths begin at its root. */
export class Syscalls {
  readonly #kernel: Kernel;
  readonly #namespace: Namespace;
  readonly #maker: Maker;

  constructor(kernel: Kernel, namespace: Namespace, maker: Maker = "person") {
    this.#kernel = kernel;
    this.#namespace = namespace;
    this.#maker = maker;
  }

  mkdir(path: string, mode: number): void {
    this.#new(path, "mkdir", (parent, name) => makeAt(this.#kernel, parent, name, "directory", mode));
  }

  mknod(path: string): void {
    this.#new(path, "mknod", (parent, name) => makeAt(this.#kernel, parent, name, "charDevice", 0o600));
  }

  symlink(to: string, path: string): void {
    this.#new(path, "symlink", (parent, name) => {
      makeAt(this.#kernel, parent, name, "symlink", 0o777).content = to;
    });
  }

  /** open(2) for writing, made if missing, cut off otherwise, and write(2). */
  write(path: string, content: string): void {
    const found = walk(rootOf(this.#namespace), path, "follow");
    if (found !== undefined) {
      if (found.dentry.kind === "directory") throw new Errno("EISDIR", "open");
      refuseDevice(found);
      requireWritable(found.mount);
      found.dentry.content = content;
      return;
    }
    const { parent, name } = parentAndName(this.#namespace, path);
    const link = parent.dentry.children.get(name)?.content;
    if (link === undefined) makeAt(this.#kernel, parent, name, "file", 0o644).content = content;
    else this.write(link.startsWith("/") ? link : `${path.slice(0, path.lastIndexOf("/"))}/${link}`, content);
  }

  rmdir(path: string): void {
    const { parent, name } = parentAndName(this.#namespace, path);
    removeAt(this.#kernel, this.#namespace, parent, name, "directory");
  }

  unlink(path: string): void {
    const { parent, name } = parentAndName(this.#namespace, path);
    removeAt(this.#kernel, this.#namespace, parent, name, "file");
  }

  rename(from: string, to: string): void {
    rename(this.#kernel, this.#namespace, parentAndName(this.#namespace, from), parentAndName(this.#namespace, to));
  }

  mountTmpfs(path: string, source: string): void {
    const at = existing(this.#namespace, path);
    const root = this.#kernel.memoryRoot("tmpfs", source, []);
    this.#attach(this.#kernel.tree.create({ root, attributes: plainAttributes, maker: this.#maker }), at);
  }

  /** mount(2) with MS_BIND, and MS_REC. */
  bind(from: string, to: string, recursive: boolean): void {
    const { tree } = this.#kernel;
    const at = existing(this.#namespace, to);
    const source = existing(this.#namespace, from);
    const copy = recursive ? tree.copyTree(source.mount, source.dentry) : tree.copy(source.mount, source.dentry);
    this.#attach(copy, at);
  }

  /** mount(2) with MS_MOVE. */
  move(from: string, to: string): void {
    const at = existing(this.#namespace, to);
    const source = existing(this.#namespace, from);
    const { mount } = source;
    if (source.dentry !== mount.root || mount.parent === undefined) throw new Errno("EINVAL", "mount");
    if (mount.parent.group !== undefined) throw new Errno("EINVAL", "mount");
    if ((at.dentry.kind === "directory") !== (mount.root.kind === "directory")) throw new Errno("EINVAL", "mount");
    if (subtree(mount).includes(at.mount)) throw new Errno("ELOOP", "mount");
    this.#kernel.tree.move(mount, at);
  }

  umount(path: string, lazy: boolean): void {
    this.#kernel.tree.detach(this.#mountAt(path), lazy);
  }

  /** mount(2) with MS_REMOUNT and MS_BIND: the flags of one mount. */
  remount(path: string, attributes: MountAttributes): void {
    const mount = this.#mountAt(path);
    mount.attributes = attributes;
    this.#kernel.version++;
    mount.namespace?.changed();
  }

  /** mount(2) with MS_SHARED, MS_SLAVE or MS_PRIVATE, and MS_REC. */
  propagation(path: string, type: Propagation, recursive: boolean): void {
    const mount = this.#mountAt(path);
    const { groups } = this.#kernel.tree;
    for (const each of recursive ? subtree(mount) : [mount]) {
      if (type === "private") groups.makePrivate(each);
      else if (type === "slave") groups.makeSlave(each);
      else if (each.group === undefined) groups.share(each);
    }
    this.#kernel.version++;
  }

  /** What is at a path, for a process to open it. */
  open(path: string): Path {
    const found = existing(this.#namespace, path);
    refuseDevice(found);
    return found;
  }

  #new(path: string, call: string, make: (parent: Path, name: string) => void): void {
    const { parent, name } = parentAndName(this.#namespace, path);
    if (parent.dentry.children.has(name)) throw new Errno("EEXIST", call);
    make(parent, name);
  }

  #attach(mount: Mount, at: Path): void {
    const { tree } = this.#kernel;
    try {
      const isDirectory = mount.root.kind === "directory";
      if ((at.dentry.kind === "directory") !== isDirectory) throw new Errno("ENOTDIR", "mount");
      tree.attach(mount, at);
    } catch (error) {
      tree.drop(mount);
      throw error;
    }
  }

  #mountAt(path: string): Mount {
    const { mount, dentry } = existing(this.#namespace, path);
    if (dentry !== mount.root) throw new Errno("EINVAL", "mount");
    return mount;
  }
}

/** There is no driver behind any character device here. */
function refuseDevice({ mount, dentry }: Path): void {
  if (dentry.kind === "charDevice") throw new Errno(mount.attributes.nodev ? "EACCES" : "ENXIO", "open");
}
