import { isLastOf, mayBlock, remoteMountOn } from "../../mount-table/may-block.ts";
import type { MountTable } from "../../mount-table/mount-table.ts";
import type { Mounter, MountTableSource, SourcePath } from "../../ports/host-ports.ts";
import type { RemoteMount } from "../../ports/servers.ts";
import { sourceString } from "../path/walk.ts";
import { errnoOf } from "../syscall/errno.ts";

/** A table that can be told which mount has other options now. */
export interface RecheckedTable extends MountTableSource {
  recheck?(id: number, of: "mount" | "filesystem"): void;
}

/**
 * Sends each call to where it may run: on the main thread if nothing on its paths can hang, else to a disposable child.
 * A path with a symbolic link counts as one that can: the link may lead anywhere.
 */
export class RoutedMounter implements Mounter {
  readonly #table: RecheckedTable;
  readonly #here: (known: MountTable) => Mounter;
  readonly #child: (waitsFor?: RemoteMount) => Mounter;

  /**
   * @param here runs each call on this thread; a walk that meets another mount than the table shows ends with EXDEV
   * @param child runs each call in a child of its own, which may have to wait for a mount
   */
  constructor(table: RecheckedTable, here: (known: MountTable) => Mounter, child: (waitsFor?: RemoteMount) => Mounter) {
    this.#table = table;
    this.#here = here;
    this.#child = child;
  }

  inspect: Mounter["inspect"] = (source) => this.#bySource(source, (m) => m.inspect(source));
  makeSource: Mounter["makeSource"] = (source, kind, mode) =>
    this.#bySource(source, (m) => m.makeSource(source, kind, mode));
  inspectTarget: Mounter["inspectTarget"] = (target) => this.#byPath([target.path], (m) => m.inspectTarget(target));
  makeTarget: Mounter["makeTarget"] = (target, kind) => this.#byPath([target.path], (m) => m.makeTarget(target, kind));
  removeTarget: Mounter["removeTarget"] = (target, kind) =>
    this.#byPath([target.path], (m) => m.removeTarget(target, kind));
  bind: Mounter["bind"] = (source, expect, target, attributes) =>
    this.#byPath([sourceString(source), target.path], (m) => m.bind(source, expect, target, attributes));
  setAttributes: Mounter["setAttributes"] = (target, id, attributes, uniqueID) =>
    this.#changing(id, "mount", () =>
      this.#byPath([target.path], (m) => m.setAttributes(target, id, attributes, ...known(uniqueID))),
    );
  mountFilesystem: Mounter["mountFilesystem"] = async (request) => {
    if (request.fsType !== "tmpfs" && request.fsType !== "hugetlbfs") return this.#child().mountFilesystem(request);
    return this.#hereFirst(await this.#table.read(), ["EXDEV"], (m) => m.mountFilesystem(request));
  };

  /** A local disk, too, may not answer. */
  sizeOf: Mounter["sizeOf"] = async (source) =>
    this.#child(remoteMountOn(await this.#table.read(), sourceString(source))).sizeOf(source);

  /** Changing a device's or server's options talks to it. */
  reconfigure: Mounter["reconfigure"] = async (target, id, options, uniqueID) => {
    const table = await this.#table.read();
    const call = (m: Mounter) => m.reconfigure(target, id, options, ...known(uniqueID));
    const here = table.at(target.path)?.fsType === "tmpfs";
    return this.#changing(id, "filesystem", () =>
      here ? this.#hereFirst(table, ["EXDEV"], call) : call(this.#child()),
    );
  };

  /** The last unmount of a device writes everything that is dirty: that can take minutes. */
  unmount: Mounter["unmount"] = async (target, id, unmountMode, uniqueID) => {
    const table = await this.#table.read();
    const call = (m: Mounter) => m.unmount(target, id, unmountMode, ...known(uniqueID));
    if (!mayBlock(table, target.path) && !isLastOf(table, id)) return this.#hereFirst(table, ["EXDEV"], call);
    return call(this.#child(remoteMountOn(table, target.path)));
  };

  /** The kernel tells of changed options, not whose: of ours it need not. */
  async #changing(id: number, of: "mount" | "filesystem", call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } finally {
      this.#table.recheck?.(id, of);
    }
  }

  async #byPath<T>(paths: readonly string[], call: (mounter: Mounter) => Promise<T>): Promise<T> {
    const table = await this.#table.read();
    const hanging = paths.find((path) => mayBlock(table, path));
    if (hanging !== undefined) return call(this.#child(remoteMountOn(table, hanging)));
    return this.#hereFirst(table, ["EXDEV"], call);
  }

  async #bySource<T>(source: SourcePath, call: (mounter: Mounter) => Promise<T>): Promise<T> {
    const table = await this.#table.read();
    const path = sourceString(source);
    if (mayBlock(table, path)) return call(this.#child(remoteMountOn(table, path)));
    return this.#hereFirst(table, ["EXDEV", "ELOOP"], call);
  }

  /** On this thread, or in a child if the walk meets what the table does not show. Nothing was done then. */
  async #hereFirst<T>(
    table: MountTable,
    refusals: readonly string[],
    call: (mounter: Mounter) => Promise<T>,
  ): Promise<T> {
    try {
      return await call(this.#here(table));
    } catch (error) {
      if (!refusals.includes(errnoOf(error) ?? "")) throw error;
      return call(this.#child());
    }
  }
}

/** An argument for a child, to which what is undefined arrives as null. */
function known(uniqueID: number | undefined): [number] | [] {
  return uniqueID === undefined ? [] : [uniqueID];
}
