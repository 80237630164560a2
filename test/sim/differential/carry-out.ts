import { VolumeError } from "../../../src/errors.ts";
import { errnoOf } from "../../../src/host/linux/syscall/errno.ts";
import { isBeneath, joinPath, relativePath } from "../../../src/host/mount-table/mount-table.ts";
import type { DirectoryID, Holder, SourceInfo, SourcePath } from "../../../src/host/ports/host-ports.ts";
import type { TargetPath } from "../../../src/host/ports/types.ts";
import type { AgentPlace } from "../kernel/agent-namespace.ts";
import { podHostRoot } from "../kernel/agent-namespace.ts";
import { layout } from "../machine.ts";
import type { DifferentialWorld } from "./differential-world.ts";
import type { AgentOperation, Operation } from "./operations.ts";

/** Names that a snapshot of a world has for what numbers stand for. */
export interface Naming {
  mount(id: number): string;
  device(number: string): string;
}

/** A mount id that no mount has. */
const noMount = 2_000_000_000;

/**
 * Carries out operations on one world, and says of each what became of it, in words that are the same for all worlds.
 */
export class Actor {
  readonly #world: DifferentialWorld;
  readonly #place: AgentPlace;
  readonly #identities = new Map<string, SourceInfo>();
  readonly #directories = new Map<string, DirectoryID>();
  #tmpfs = 0;

  constructor(world: DifferentialWorld, place: AgentPlace) {
    this.#world = world;
    this.#place = place;
  }

  /** @returns what came of it, to be told with the names of the mounts as they are afterwards */
  async carryOut(operation: Operation): Promise<(names: Naming) => string> {
    try {
      if ("place" in operation) {
        await this.#world.person(operation);
        return () => "ok";
      }
      switch (operation.kind) {
        case "startContainer":
          this.#world.startContainer(operation.path);
          return () => "ok";
        case "unshareHost":
          this.#world.startContainer(undefined);
          return () => "ok";
        case "endContainer":
          await this.#world.endContainer();
          return () => "ok";
        default:
          return await this.#agent(operation);
      }
    } catch (error) {
      return () => failure(error);
    }
  }

  async #agent(operation: AgentOperation): Promise<(names: Naming) => string> {
    const { mounter, directories, evidence } = this.#world;
    const done = <T>(begun: Promise<T>) => this.#world.done(begun);
    switch (operation.kind) {
      case "inspect": {
        const info = await this.#inspect(operation.source);
        return (names) => (info === undefined ? "nothing" : this.#tellSource(info, names));
      }
      case "makeSource":
        await done(mounter.makeSource(this.#source(operation.source), operation.of, 0o750));
        return () => "ok";
      case "inspectTarget": {
        const target = this.#target(operation.target);
        const seen = await done(mounter.inspectTarget(target));
        const table = await done(this.#world.mountTable.read());
        const covering = table.covering(target.path);
        return (names) => {
          if (seen === undefined) return "nothing";
          const inTable = covering?.id === seen.mountID ? "" : `, but the table says ${covering?.id}`;
          return `${seen.kind} in ${names.mount(seen.mountID)}${inTable}`;
        };
      }
      case "makeTarget":
        await done(mounter.makeTarget(this.#target(operation.target), operation.of));
        return () => "ok";
      case "removeTarget":
        await done(mounter.removeTarget(this.#target(operation.target), operation.of));
        return () => "ok";
      case "bind": {
        const { source, target, fresh, attributes } = operation;
        const info = fresh ? await this.#inspect(source) : this.#identities.get(source);
        if (info === undefined) return () => "nothing to bind";
        await done(mounter.bind(this.#source(source), info.identity, this.#target(target), attributes));
        return () => "ok";
      }
      case "mountTmpfs": {
        const { target, options, attributes } = operation;
        const request = { fsType: "tmpfs", source: `volume-${this.#tmpfs++}`, options, attributes };
        await done(mounter.mountFilesystem({ ...request, target: this.#target(target) }));
        return () => "ok";
      }
      case "setAttributes": {
        const id = await this.#mountID(operation);
        await done(mounter.setAttributes(this.#target(operation.target), id, operation.attributes));
        return () => "ok";
      }
      case "reconfigure": {
        const entry = (await done(this.#world.mountTable.read())).at(this.#path(operation.target));
        // What is bound from the root file system is of different types in the two worlds.
        if (entry?.source.startsWith("volume-") !== true) return () => "no file system of ours";
        const id = await this.#mountID(operation);
        await done(mounter.reconfigure(this.#target(operation.target), id, operation.options));
        return () => "ok";
      }
      case "unmount": {
        const id = await this.#mountID(operation);
        await done(mounter.unmount(this.#target(operation.target), id, operation.unmountMode));
        return () => "ok";
      }
      case "holders": {
        const table = await done(this.#world.mountTable.read());
        const identity = table.identityOf(this.#path(operation.target));
        if (identity === undefined) return () => "nothing";
        const holders = await done(evidence.holders(identity));
        return () => this.#tellHolders(holders);
      }
      case "mountedOn": {
        const table = await done(this.#world.mountTable.read());
        const identity = table.identityOf(this.#path(operation.target));
        if (identity === undefined) return () => "nothing";
        const holders = await done(evidence.mountedOn(identity));
        return () => this.#tellHolders(holders);
      }
      case "users": {
        const users = await done(evidence.users(this.#path(operation.target)));
        return () =>
          users.length > 0 ? `used: ${users.map(({ mountPoint }) => this.#strip(mountPoint)).sort()}` : "unused";
      }
      case "makeDirectory":
        await done(directories.make(this.#path(operation.path), operation.mode));
        return () => "ok";
      case "identify": {
        const id = await done(directories.identify(this.#path(operation.path)));
        if (id !== undefined) this.#directories.set(operation.path, id);
        return () => (id === undefined ? "nothing" : "found");
      }
      case "writePayload": {
        const files = Object.entries(operation.files).map(([path, text]) => ({
          path,
          content: new TextEncoder().encode(text),
          mode: 0o644,
        }));
        const written = await done(directories.writePayload(this.#path(operation.path), files));
        return () => (written ? "written" : "the same");
      }
      case "removeDirectory":
        await done(directories.remove(this.#path(operation.path)));
        return () => "ok";
      case "discard": {
        const id = this.#directories.get(operation.path);
        if (id === undefined) return () => "never seen";
        await done(directories.discard(this.#path(operation.path), id));
        return () => "ok";
      }
      case "emptyTrash":
        await done(directories.emptyTrash());
        return () => "ok";
    }
  }

  async #inspect(source: string): Promise<SourceInfo | undefined> {
    const info = await this.#world.done(this.#world.mounter.inspect(this.#source(source)));
    if (info !== undefined) this.#identities.set(source, info);
    return info;
  }

  async #mountID({ target, layer }: { target: string; layer: number }): Promise<number> {
    const table = await this.#world.done(this.#world.mountTable.read());
    if (layer < 0) return noMount;
    const top = table.at(this.#path(target));
    return layer === 0 && top !== undefined ? top.id : (table.layers(this.#path(target)).at(-1 - layer)?.id ?? noMount);
  }

  /** Sources are the host's, which a pod sees beneath /host; the state directory is where it is on the host. */
  #source(path: string): SourcePath {
    const ofHost = this.#place === "pod" && isBeneath(path, layout.sources);
    return { root: this.#path(ofHost ? podHostRoot : "/"), path };
  }

  #target(path: string): TargetPath {
    const prefix = isBeneath(path, layout.prefix) ? layout.prefix : `${layout.stateDir}`;
    return { prefix: this.#path(prefix), path: this.#path(path) };
  }

  #path(path: string): string {
    const { base } = this.#world;
    if (base === "") return path;
    return path === "/" ? base : `${base}${path}`;
  }

  #strip(path: string): string {
    const { base } = this.#world;
    return base !== "" && isBeneath(path, base) ? joinPath("/", relativePath(base, path)) : path;
  }

  #tellSource({ kind, identity, canonicalPath }: SourceInfo, names: Naming): string {
    return `${kind} ${this.#strip(canonicalPath)} is ${names.device(identity.device)} ${identity.root}`;
  }

  #tellHolders(holders: readonly Holder[]): string {
    const lines = holders.map(({ pid, mountPoint, onNode }) => {
      const place = pid === undefined ? "nobody" : this.#world.placeOf(pid);
      return `${place}${onNode === true ? " (the node's)" : ""} ${this.#strip(mountPoint)}`;
    });
    return lines.length === 0 ? "nobody" : lines.sort().join(", ");
  }
}

function failure(error: unknown): string {
  if (error instanceof VolumeError) return `${error.reason} ${error.errorClass}`;
  const code = errnoOf(error);
  if (code === undefined) throw error;
  return code;
}
