import { isLastOf, mayHang, remoteMountOn } from "../may-hang.ts";
import type { Mounter, MountTableSource, SourcePath } from "../ports.ts";
import type { RemoteMount } from "../remote-mount.ts";
import { errnoOf } from "./errno.ts";
import { sourceString } from "./walk.ts";

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
  readonly #here: Mounter;
  readonly #child: (waitsFor?: RemoteMount) => Mounter;

  /** @param child runs each call in a child of its own, which may have to wait for a mount */
  constructor(table: RecheckedTable, here: Mounter, child: (waitsFor?: RemoteMount) => Mounter) {
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
  mountFilesystem: Mounter["mountFilesystem"] = (request) =>
    (request.fsType === "tmpfs" ? this.#here : this.#child()).mountFilesystem(request);

  /** Changing a device's or server's options talks to it. */
  reconfigure: Mounter["reconfigure"] = async (target, id, options, uniqueID) => {
    const fsType = (await this.#table.read()).at(target.path)?.fsType;
    const mounter = fsType === "tmpfs" ? this.#here : this.#child();
    return this.#changing(id, "filesystem", () => mounter.reconfigure(target, id, options, ...known(uniqueID)));
  };

  /** The last unmount of a device writes everything that is dirty: that can take minutes. */
  unmount: Mounter["unmount"] = async (target, id, rung, uniqueID) => {
    const table = await this.#table.read();
    const child = mayHang(table, target.path) || isLastOf(table, id);
    return (child ? this.#child(remoteMountOn(table, target.path)) : this.#here).unmount(
      target,
      id,
      rung,
      ...known(uniqueID),
    );
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
    const hanging = paths.find((path) => mayHang(table, path));
    return call(hanging === undefined ? this.#here : this.#child(remoteMountOn(table, hanging)));
  }

  async #bySource<T>(source: SourcePath, call: (mounter: Mounter) => Promise<T>): Promise<T> {
    const table = await this.#table.read();
    const path = sourceString(source);
    if (mayHang(table, path)) return call(this.#child(remoteMountOn(table, path)));
    try {
      return await call(this.#here);
    } catch (error) {
      if (errnoOf(error) !== "ELOOP") throw error;
      return call(this.#child());
    }
  }
}

/** An argument for a child, to which what is undefined arrives as null. */
function known(uniqueID: number | undefined): [number] | [] {
  return uniqueID === undefined ? [] : [uniqueID];
}
