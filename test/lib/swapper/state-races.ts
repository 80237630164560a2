import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { expect } from "chai";
import { silent } from "../../../hack/lib/silent-log.ts";
import { VolumeError } from "../../../src/errors.ts";
import { ChildRunner } from "../../../src/host/linux/child/child-runner.ts";
import { emptyTrash } from "../../../src/host/linux/files/empty-trash.ts";
import { LinuxDirectories } from "../../../src/host/linux/files/linux-directories.ts";
import { InProcessMounter } from "../../../src/host/linux/mount/in-process-mounter.ts";
import { errnoOf } from "../../../src/host/linux/syscall/errno.ts";
import { loadLibc } from "../../../src/host/linux/syscall/libc.ts";
import type { PayloadFile } from "../../../src/host/ports/host-ports.ts";
import { realSystem } from "../../../src/system.ts";
import { childCommand } from "../kernel/child-command.ts";
import type { World } from "./arena.ts";
import type { Race } from "./race.ts";
import { exchange, removeAndLink, replaceByLink, type Strategy } from "./steps.ts";

const libc = loadLibc();
const mounter = new InProcessMounter(libc, "refuseLinks");
const runner = new ChildRunner({ timers: realSystem(silent).timers, command: childCommand() });

const directories = (world: World) => new LinuxDirectories({ libc, trash: world.at("state/trash"), runner });
const place = (world: World) => world.at("state/data/k");
const nothing = () => new VolumeError("SetUpFailed", "transient", "it is not there");

function ofData(world: World): Strategy[] {
  return [
    exchange(world.at("state/data"), world.at("state/link"), "exchange with a link"),
    replaceByLink(world.at("state/data"), world.at("outside")),
    replaceByLink(world.at("state/data/k"), world.at("outside/k")),
    removeAndLink(world.at("state/data/k"), world.at("outside/empty")),
  ];
}

/** What goes on in a directory of ours when somebody has it open who may write in there. */
function inTrash(world: World): Strategy[] {
  return [
    replaceByLink(world.at("state/trash/x"), world.at("outside")),
    replaceByLink(world.at("state/trash/x/deep"), world.at("outside/dir")),
    exchange(world.at("state/trash"), world.at("state/link"), "exchange of the trash with a link"),
  ];
}

function fillTrash(world: World): void {
  for (const name of ["x", "x/deep", "x/deep/target"]) {
    try {
      using above = world.hold(dirname(`state/trash/${name}`));
      if (above !== undefined) mkdirSync(`${above.path}/${basename(name)}`);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
    }
  }
}

let turn = 0;
function payload(): PayloadFile[] {
  const content = Buffer.from(`${turn++}`);
  return [
    { path: "a", content, mode: 0o644 },
    { path: "target/file", content, mode: 0o400 },
  ];
}

function remake(world: World): void {
  using data = world.hold("state/data");
  if (data === undefined) return;
  try {
    mkdirSync(`${data.path}/k`);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

/** Operations beneath the state directory, where only root may swap anything; and the trash, where others may. */
export const stateRaces: readonly Race[] = [
  {
    name: "Directories.make",
    errnos: ["ENOENT"],
    strategies: (world) => ofData(world).slice(0, 3),
    async attempt(world) {
      await directories(world).make(`${place(world)}/sub`, 0o755);
    },
  },
  {
    name: "Directories.identify",
    errnos: [],
    strategies: ofData,
    async attempt(world) {
      const found = await directories(world).identify(place(world));
      if (found === undefined) throw nothing();
      expect(found.inode).not.to.equal(statSync(world.at("outside/k")).ino);
    },
  },
  {
    name: "Directories.remove",
    errnos: ["ENOTDIR"],
    strategies: ofData,
    attempt: (world) => directories(world).remove(place(world)),
    reset: remake,
  },
  {
    name: "Directories.writePayload",
    errnos: ["ENOENT"],
    strategies: (world) => [
      ...ofData(world).slice(0, 3),
      replaceByLink(world.at("state/data/k/..data"), world.at("outside")),
    ],
    async attempt(world) {
      await directories(world).writePayload(place(world), payload());
    },
  },
  discarding(),
  {
    name: "emptyTrash",
    errnos: ["ENOTDIR"],
    strategies: inTrash,
    async attempt(world) {
      fillTrash(world);
      const { count } = emptyTrash(libc, world.at("state/trash"));
      if (count > 0) throw nothing();
    },
  },
  {
    name: "staging: make, mount, unmount, remove",
    errnos: ["ENOENT"],
    strategies: (world) => [
      replaceByLink(world.at("state/staging"), world.at("outside/staging")),
      exchange(world.at("state/staging"), world.at("state/link"), "exchange with a link"),
    ],
    async attempt(world) {
      const target = { prefix: world.at("state"), path: world.at("state/staging/k") };
      await mounter.makeTarget(target, "directory");
      await mounter.mountFilesystem({ fsType: "tmpfs", source: "ours", options: [], attributes: staged, target });
      const id = world.ours().at(-1)?.id ?? 0;
      await mounter.unmount(target, id, "Normal");
      await mounter.removeTarget(target, "directory");
    },
    reset: (world) => world.clear(),
  },
];

const staged = {
  readOnly: false,
  nosuid: true,
  nodev: true,
  noexec: false,
  nosymfollow: false,
  nodiratime: false,
  atime: "relatime",
} as const;

function discarding(): Race {
  let precious = 0;
  return {
    name: "Directories.discard",
    errnos: ["ENOENT"],
    strategies: (world) => [
      ...ofData(world).slice(0, 3),
      exchange(
        world.at("state/data/k"),
        world.at("state/data/precious"),
        "exchange with a directory that is not on record",
      ),
    ],
    async prepare(world) {
      mkdirSync(world.at("state/data/precious"));
      writeFileSync(world.at("state/data/precious/kept"), "content");
      precious = statSync(world.at("state/data/precious")).ino;
    },
    async attempt(world) {
      remake(world);
      const found = await directories(world).identify(place(world));
      if (found === undefined || found.inode === precious) throw nothing(); // never on record, whatever its name is
      await directories(world).discard(place(world), found);
    },
    check(world) {
      const beside = readdirSync(world.at("state/data")).filter((name) => name.startsWith("k.kept-"));
      const kept = ["precious", "k", ...beside].some(
        (name) => statSync(world.at(`state/data/${name}/kept`), { throwIfNoEntry: false }) !== undefined,
      );
      expect(kept, "what is not on record was not thrown away").to.equal(true);
    },
  };
}
