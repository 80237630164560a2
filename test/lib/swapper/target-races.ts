import { expect } from "chai";
import { VolumeError } from "../../../src/errors.ts";
import { InProcessMounter } from "../../../src/host/linux/mount/in-process-mounter.ts";
import { loadLibc } from "../../../src/host/linux/syscall/libc.ts";
import { isBeneath, type MountIdentity } from "../../../src/host/mount-table/mount-table.ts";
import type { SourcePath, UnmountMode } from "../../../src/host/ports/host-ports.ts";
import type { MountAttributes, TargetPath } from "../../../src/host/ports/types.ts";
import type { World } from "./arena.ts";
import type { Race } from "./race.ts";
import { exchange, moveOut, removeAndLink, replaceByLink, type Strategy } from "./steps.ts";

export const plain: MountAttributes = {
  readOnly: false,
  nosuid: true,
  nodev: true,
  noexec: false,
  nosymfollow: false,
  nodiratime: false,
  atime: "relatime",
};
const mounter = new InProcessMounter(loadLibc(), "refuseLinks");

export const targetOf = (world: World): TargetPath => ({
  prefix: world.at("prefix"),
  path: world.at("prefix/dir/target"),
});
const sourceOf = (world: World): SourcePath => ({ root: world.at("root"), path: "/src/sub" });

/** Of a directory above the target: what is beneath it has the same names in each place that it may mean. */
export function above(world: World): Strategy[] {
  const directory = world.at("prefix/dir");
  return [
    exchange(directory, world.at("prefix/link"), "exchange with a link"),
    replaceByLink(directory, world.at("outside")),
    exchange(directory, world.at("prefix/other"), "exchange with a directory"),
    moveOut(directory, world.at("gone/dir")),
  ];
}

/** Of the target itself. */
function itself(world: World): Strategy[] {
  const target = world.at("prefix/dir/target");
  return [
    exchange(target, world.at("prefix/dir/leaflink"), "exchange of the target with a link"),
    exchange(target, world.at("prefix/dir/foreign"), "exchange of the target with another's mount"),
    exchange(target, world.at("prefix/dir/file"), "exchange of the target with a file"),
  ];
}

const both = (world: World) => [...above(world), ...itself(world)];

/** Mounts of the test's source, wherever their mount points are by now. */
const mounted = (world: World) => world.ours().filter(({ root }) => root.endsWith("/src/sub"));

function expectInside(world: World, count: number): void {
  const points = mounted(world).map(({ point }) => point);
  expect(points).to.have.length(count);
  for (const point of points) expect(isBeneath(point, world.at("outside")), point).to.equal(false);
}

async function identityOf(world: World): Promise<MountIdentity> {
  const info = await mounter.inspect(sourceOf(world));
  if (info === undefined) throw new Error("the source is missing");
  return info.identity;
}

/** Binds the source on the target, however often it takes. @returns the mount's id */
async function mountOurs(world: World, identity: MountIdentity): Promise<number> {
  for (let tries = 0; tries < 100_000; tries++) {
    try {
      await mounter.bind(sourceOf(world), identity, targetOf(world), plain);
      const mount = mounted(world).at(-1);
      if (mount !== undefined) return mount.id;
    } catch (error) {
      if (!(error instanceof Error) || !["VolumeError", "Errno"].includes(error.name)) throw error;
    }
  }
  throw new Error("the target is never at rest");
}

const removals = (world: World) => [
  ...both(world),
  removeAndLink(world.at("prefix/dir/target"), world.at("outside/empty")),
];

/** A mount that is attached, wherever the path has come to lead, and gone again if it was refused. */
const attaching = (name: string, attach: (world: World, identity: MountIdentity) => Promise<void>): Race => {
  let identity: MountIdentity;
  return {
    name,
    errnos: ["ENOENT", "EINVAL"], // EINVAL: the directory was removed after it was opened
    strategies: removals,
    async prepare(world) {
      identity = await identityOf(world);
    },
    async attempt(world) {
      try {
        await attach(world, identity);
      } catch (error) {
        expect(world.ours(), "refused: it is not mounted").to.deep.equal([]);
        throw error;
      }
      for (const { point } of world.ours()) expect(isBeneath(point, world.at("outside")), point).to.equal(false);
    },
    reset: (world) => world.clear(),
  };
};

const unmount = (unmountMode: UnmountMode): Race => {
  let identity: MountIdentity;
  let id = 0;
  return {
    name: `unmount, ${unmountMode}`,
    errnos: [],
    strategies: both,
    async prepare(world) {
      identity = await identityOf(world);
      id = await mountOurs(world, identity);
    },
    async attempt(world) {
      if (mounted(world).length === 0) id = await mountOurs(world, identity);
      try {
        await mounter.unmount(targetOf(world), id, unmountMode);
      } catch (error) {
        expectInside(world, 1); // refused: it is still there
        throw error;
      }
      expectInside(world, 0);
    },
    check: (world) => world.clear(),
  };
};

const changing = (name: string, change: (world: World, id: number, turn: number) => Promise<void>): Race => {
  let id = 0;
  let turn = 0;
  return {
    name,
    errnos: [],
    strategies: both,
    async prepare(world) {
      await mounter.mountFilesystem({
        fsType: "tmpfs",
        source: "ours",
        options: ["size=64k"],
        attributes: plain,
        target: targetOf(world),
      });
      id = world.ours().at(-1)?.id ?? 0;
    },
    attempt: (world) => change(world, id, turn++),
    check: (world) => world.clear(),
  };
};

/** Every operation of the mounter on a target. */
export const targetRaces: readonly Race[] = [
  attaching("bind: the target", (world, identity) => mounter.bind(sourceOf(world), identity, targetOf(world), plain)),
  attaching("mountFilesystem: the target", (world) =>
    mounter.mountFilesystem({
      fsType: "tmpfs",
      source: "ours",
      options: ["size=64k"],
      attributes: plain,
      target: targetOf(world),
    }),
  ),
  unmount("Normal"),
  unmount("Force"),
  unmount("Lazy"),
  changing("setAttributes", (world, id, turn) =>
    mounter.setAttributes(targetOf(world), id, { ...plain, readOnly: turn % 2 === 0, noexec: true }),
  ),
  changing("reconfigure", (world, id, turn) =>
    mounter.reconfigure(targetOf(world), id, [`size=${64 + (turn % 8) * 4}k`]),
  ),
  {
    name: "inspectTarget",
    errnos: [],
    strategies: removals,
    async attempt(world) {
      const found = await mounter.inspectTarget(targetOf(world));
      if (found === undefined) throw new VolumeError("SetUpFailed", "transient", "it is not there");
    },
  },
];
