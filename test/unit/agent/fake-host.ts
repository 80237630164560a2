import { MountTable } from "../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import type { Effects, Holder, HostPorts, JournalFile, Mounter } from "../../../src/host/ports/host-ports.ts";
import type { Servers } from "../../../src/host/ports/servers.ts";
import type { ChildProcessID, MountAttributes } from "../../../src/host/ports/types.ts";
import { noWakeups } from "../../../src/host/ports/wakeups.ts";
import { entry, optionsOf } from "../../lib/builders/mount-entries.ts";
import { noClients } from "../../lib/fakes/no-clients.ts";
import { noISCSI } from "../../lib/fakes/no-iscsi.ts";
import { noLayers } from "../../lib/fakes/no-layers.ts";
import { noFlocker, noNBD, noPrograms, noRBD } from "../../lib/fakes/no-programs.ts";
import { noScsi } from "../../lib/fakes/no-scsi.ts";
import { noSwaps } from "../../lib/fakes/no-swaps.ts";

/**
 * A host in memory: it mounts what it is told to and keeps a log of the calls. It is not the kernel: one namespace, no
 * propagation, no paths but those that are mounted on. Its calls can be held up and made to fail.
 */
export class FakeHost implements HostPorts {
  /** Calls of the mounter that change something, as `method path`. */
  readonly calls: string[] = [];
  /** How many times the table was read. */
  reads = 0;
  readable = true;
  readonly alive = new Set<number>();
  /** Who still has a volume mounted. */
  holders: readonly Holder[] = [];
  /** Asked before each call that is logged: what it rejects with, the call rejects with. */
  before: (call: string) => Promise<void> = async () => {};
  entries: MountEntry[] = [entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4" })];
  #serial = 10;

  readonly mountTable = {
    read: async () => {
      this.reads += 1;
      if (!this.readable) throw new Error("EIO");
      return new MountTable(this.entries);
    },
    watch: () => () => {},
  };

  readonly evidence = {
    holders: async () => this.holders,
    mountedOn: async () => [],
    members: async () => [],
    users: async () => [],
    kernelUsers: async () => [],
    hasBlockDevice: async () => false,
    diskSequence: async () => undefined,
    alive: async ({ pid }: ChildProcessID) => this.alive.has(pid),
    bootID: async () => "boot-1",
  };

  readonly directories: HostPorts["directories"] = {
    make: async () => ({ device: 1, inode: 1 }),
    emptyIfLarger: async () => {},
    limit: async () => {},
    identify: async () => undefined,
    writePayload: async () => true,
    remove: async () => {},
    discard: async () => {},
    emptyTrash: async () => {},
  };

  readonly journal: JournalFile = {
    read: async () => undefined,
    append: async () => {},
    replace: async () => {},
    keepCopy: async (suffix) => suffix,
    close: async () => {},
  };

  wakeups: HostPorts["wakeups"] = noWakeups;

  readonly servers: Servers = {
    ask: async () => ({ answers: true }),
    disk: () => ({ answers: true }),
    errors: () => undefined,
    giveUp: (point) => void this.calls.push(`giveUp ${point}`),
  };

  effects(): Effects {
    const devices = {
      claim: async () => undefined,
      openers: async () => [],
      disks: async () => [],
      wipe: async () => {
        throw new Error("the fake host has no devices");
      },
      probe: async () => {
        throw new Error("the fake host has no devices");
      },
      format: async () => {
        throw new Error("the fake host has no devices");
      },
      attributes: async () => {
        throw new Error("the fake host has no devices");
      },
      mend: async () => {
        throw new Error("the fake host has no devices");
      },
      grow: async () => {
        throw new Error("the fake host has no devices");
      },
    };
    const ownership = { give: async () => ({ entries: 1, failed: 0, examples: [] }) };
    const repositories = { checkOut: async () => {} };
    const images = { unpack: async () => {} };
    return {
      mounter: this.#mounter,
      devices,
      ownership,
      programs: noPrograms,
      flocker: noFlocker,
      rbd: noRBD,
      nbd: noNBD,
      repositories,
      images,
      clients: noClients,
      scsi: noScsi,
      iscsi: noISCSI,
      layers: noLayers,
      swaps: noSwaps,
    };
  }

  unmountAt(path: string): void {
    this.entries = this.entries.filter((mount) => mount.point !== path);
  }

  readonly #mounter: Mounter = {
    inspect: async ({ path }) => {
      const mount = new MountTable(this.entries).at(path);
      if (mount === undefined) return undefined;
      const { device, root, source, fsType } = mount;
      return { kind: "directory", canonicalPath: path, fsType, identity: { device, root, source } };
    },
    makeSource: async () => {},
    inspectTarget: async () => undefined,
    makeTarget: async () => {},
    removeTarget: async () => {},
    bind: async (_source, { device, root, source }, { path }, attributes) => {
      await this.#called(`bind ${path}`);
      this.#mount({ point: path, device, root, ...(source !== undefined && { source }) }, attributes);
    },
    mountFilesystem: async ({ fsType, source, target: { path }, attributes }) => {
      await this.#called(`mountFilesystem ${path}`);
      this.#mount({ point: path, device: `0:${this.#serial}`, fsType, source }, attributes);
    },
    setAttributes: async ({ path }, mountID, attributes) => {
      await this.#called(`setAttributes ${path}`);
      const options = optionsOf(attributes);
      this.entries = this.entries.map((mount) => (mount.id === mountID ? { ...mount, options } : mount));
    },
    reconfigure: async () => {},
    sizeOf: async () => 0,
    unmount: async ({ path }, mountID) => {
      await this.#called(`unmount ${path}`);
      this.entries = this.entries.filter((mount) => mount.id !== mountID);
    },
  };

  async #called(call: string): Promise<void> {
    this.calls.push(call);
    await this.before(call);
  }

  #mount(given: Partial<MountEntry> & { point: string }, attributes: MountAttributes): void {
    this.#serial += 1;
    this.entries = [...this.entries, entry({ id: this.#serial, ...given, options: optionsOf(attributes) })];
  }
}
