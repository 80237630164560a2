import type { MountAttributes } from "../../src/host/ports/types.ts";
import { containerWith, privateCopy } from "./kernel/agent-namespace.ts";
import type { Dentry, Maker } from "./kernel/dentry.ts";
import type { Disk } from "./kernel/disk.ts";
import { Errno } from "./kernel/errno.ts";
import { exists, makeAt, makeDirectories, parentAndName, remove, rename } from "./kernel/files.ts";
import { existing, fileAt } from "./kernel/lookup.ts";
import { type Mount, plainAttributes } from "./kernel/mount.ts";
import type { Process } from "./kernel/processes.ts";
import type { Machine } from "./machine.ts";
import type { Trace } from "./trace.ts";

/** What people and their programs do on the host of one node, behind the agent's back. Everything happens at once. */
export class People {
  readonly #machine: Machine;
  readonly #trace: Trace;
  readonly #uprooted: () => boolean;

  /** @param uprooted whether the machine has rebooted without the story knowing */
  constructor(machine: Machine, trace: Trace, uprooted: () => boolean) {
    this.#machine = machine;
    this.#trace = trace;
    this.#uprooted = uprooted;
  }

  makeDirectory(path: string): void {
    this.#do(`mkdir ${path}`, () => makeDirectories(this.#machine.kernel, this.#host, path));
  }

  /** Writes a file, made if it is not there. */
  write(path: string, content: string, maker: Maker = "person"): void {
    this.#do(
      `write ${path}`,
      () => {
        const { parent, name } = parentAndName(this.#host, path);
        makeAt(this.#machine.kernel, parent, name, "file", 0o644).content = content;
      },
      maker,
    );
  }

  link(path: string, to: string): void {
    this.#do(`ln -s ${to} ${path}`, () => {
      const { parent, name } = parentAndName(this.#host, path);
      makeAt(this.#machine.kernel, parent, name, "symlink", 0o777).content = to;
    });
  }

  /** @returns undefined if there is no such file */
  read(path: string): string | undefined {
    return exists(this.#host, path) ? fileAt(this.#host, path).content : undefined;
  }

  exists(path: string): boolean {
    return exists(this.#host, path);
  }

  rename(from: string, to: string): void {
    this.#do(`mv ${from} ${to}`, () => {
      rename(this.#machine.kernel, this.#host, parentAndName(this.#host, from), parentAndName(this.#host, to));
    });
  }

  /** Takes a file or directory away, with all that is in it. */
  remove(path: string): void {
    this.#do(`rm -r ${path}`, () => {
      const { parent, name } = parentAndName(this.#host, path);
      const dentry = parent.dentry.children.get(name);
      if (dentry !== undefined) this.#removeAll(dentry);
    });
  }

  mountTmpfs(path: string, source = "foreign"): void {
    const { kernel } = this.#machine;
    this.#do(`mount -t tmpfs ${source} ${path}`, () =>
      kernel.attachNew(kernel.memoryRoot("tmpfs", source, []), () => existing(this.#host, path), {
        attributes: plainAttributes,
        maker: "person",
      }),
    );
  }

  mountDisk(disk: Disk, path: string): void {
    const { kernel } = this.#machine;
    this.#do(`mount ${disk.name} ${path}`, () =>
      kernel.attachNew(kernel.diskRoot(disk), () => existing(this.#host, path), {
        attributes: plainAttributes,
        maker: "person",
      }),
    );
  }

  bind(from: string, to: string, attributes: MountAttributes = plainAttributes): void {
    const { kernel } = this.#machine;
    this.#do(`mount --bind ${from} ${to}`, () =>
      kernel.attachNew(existing(this.#host, from).dentry, () => existing(this.#host, to), {
        attributes,
        maker: "person",
      }),
    );
  }

  /** Unmounts what is on top of a path. */
  unmount(path: string, lazy = false): void {
    this.#do(`umount ${lazy ? "-l " : ""}${path}`, () => {
      this.#machine.kernel.tree.detach(this.#mountAt(path), lazy);
    });
  }

  /** Changes the flags of what is mounted on a path, where the host and its peers see it. */
  remount(path: string, change: Partial<MountAttributes>): void {
    this.#do(`mount -o remount ${path} ${JSON.stringify(change)}`, () => {
      const mount = this.#mountAt(path);
      mount.attributes = { ...mount.attributes, ...change };
      this.#machine.kernel.version++;
      mount.namespace?.changed();
    });
  }

  /** A program with its working directory at a path. */
  use(path: string, command = "tail"): Process {
    const { kernel } = this.#machine;
    return this.#run(`${command} in ${path}`, () => {
      const process = kernel.processes.start(command, this.#host);
      kernel.processes.hold(process, existing(this.#host, path));
      return process;
    });
  }

  /** A container that was given a path of the host. */
  container(path: string, command = "pause"): Process {
    const { kernel } = this.#machine;
    return this.#run(`container ${command} with ${path}`, () =>
      kernel.processes.start(command, containerWith(kernel, command, path)),
    );
  }

  /** A program in a mount namespace of its own, which shows what the host had mounted when it began. */
  unshare(command = "unshare"): Process {
    const { kernel } = this.#machine;
    return this.#run(command, () => kernel.processes.start(command, privateCopy(kernel, command)));
  }

  end(process: Process): void {
    this.#do(`kill ${process.pid} (${process.command})`, () => this.#machine.kernel.processes.end(process));
  }

  #mountAt(path: string): Mount {
    const { mount, dentry } = existing(this.#host, path);
    if (dentry !== mount.root || mount === this.#host.root) throw new Errno("EINVAL", `umount ${path}`);
    return mount;
  }

  #removeAll(dentry: Dentry): void {
    for (const child of [...dentry.children.values()]) this.#removeAll(child);
    remove(this.#machine.kernel, this.#host, dentry);
  }

  get #host() {
    return this.#machine.kernel.host;
  }

  /** What people do fails as it would for them, and after a reboot that they do not know of it may be in vain. */
  #do(what: string, action: () => unknown, maker: Maker = "person"): void {
    try {
      this.#run(what, action, maker);
    } catch (error) {
      if (!(error instanceof Errno) || !this.#uprooted()) throw error;
    }
  }

  #run<T>(what: string, action: () => T, maker: Maker = "person"): T {
    this.#trace.add(`@${this.#machine.name}`, what);
    return this.#machine.kernel.as(maker, action);
  }
}
