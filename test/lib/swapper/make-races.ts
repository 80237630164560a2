import { mkdirSync, rmdirSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { VolumeError } from "../../../src/errors.ts";
import { InProcessMounter } from "../../../src/host/linux/mount/in-process-mounter.ts";
import { errnoOf } from "../../../src/host/linux/syscall/errno.ts";
import { loadLibc } from "../../../src/host/linux/syscall/libc.ts";
import { isBeneath, type MountIdentity } from "../../../src/host/mount-table/mount-table.ts";
import type { SourcePath } from "../../../src/host/ports/host-ports.ts";
import type { TargetPath } from "../../../src/host/ports/types.ts";
import type { World } from "./arena.ts";
import type { Race } from "./race.ts";
import { exchange, replaceByLink, type Strategy, unlinkAndLink } from "./steps.ts";
import { above, plain, targetOf } from "./target-races.ts";

const libc = loadLibc();
const mounter = new InProcessMounter(libc, "refuseLinks");
/** As a disposable child does it: links are followed, but not out of the root. */
const following = new InProcessMounter(libc, "followLinks");

const source = (world: World, path: string): SourcePath => ({ root: world.at("root"), path });

/** Of the directory that a source is in, and of the source itself. */
function ofSource(world: World): Strategy[] {
  return [
    exchange(world.at("root/src"), world.at("root/link"), "exchange with a link"),
    replaceByLink(world.at("root/src"), world.at("outside")),
    exchange(world.at("root/src"), world.at("root/other"), "exchange with a directory"),
    exchange(world.at("root/src/sub"), world.at("root/src/leaflink"), "exchange of the source with a link"),
  ];
}

const nothing = () => new VolumeError("SourceNotFound", "final", "it is not there");

const inspecting = (name: string, by: InProcessMounter): Race => ({
  name,
  errnos: by === following ? [] : ["ELOOP"],
  strategies: ofSource,
  async attempt(world) {
    const info = await by.inspect(source(world, "/src/sub"));
    if (info === undefined) throw nothing();
    expect(isBeneath(info.canonicalPath, world.at("root")), info.canonicalPath).to.equal(true);
    if (!/\/(src|src.away|other)\/sub$/.test(info.canonicalPath)) throw nothing();
  },
});

const makingSource = (kind: "directory" | "file"): Race => ({
  name: `makeSource of a ${kind}`,
  errnos: ["ENOENT"],
  strategies: (world) => ofSource(world).slice(0, 3),
  attempt: (world) => mounter.makeSource(source(world, "/src/new/made"), kind, 0o755),
  reset(world) {
    for (const place of ["src", "other", "src.away"]) {
      using held = world.hold(`root/${place}`);
      if (held !== undefined) rmSync(`${held.path}/new`, { recursive: true, force: true });
    }
  },
});

const bindingSource = (name: string, by: InProcessMounter): Race => {
  let expected: MountIdentity;
  const target = (world: World): TargetPath => targetOf(world);
  return {
    name,
    errnos: by === following ? [] : ["ELOOP"],
    strategies: ofSource,
    async prepare(world) {
      const info = await mounter.inspect(source(world, "/src/sub"));
      if (info === undefined) throw nothing();
      expected = info.identity;
    },
    async attempt(world) {
      await by.bind(source(world, "/src/sub"), expected, target(world), plain);
      expect(statSync(`${target(world).path}/theirs`, { throwIfNoEntry: false }), "shows what is outside").to.equal(
        undefined,
      );
    },
    reset: (world) => world.clear(),
  };
};

const makingTarget = (kind: "directory" | "file"): Race => ({
  name: `makeTarget of a ${kind}`,
  errnos: ["ENOENT"],
  strategies: (world) => [
    ...above(world),
    exchange(world.at("prefix/dir/target"), world.at("prefix/dir/leaflink"), "exchange of the target with a link"),
  ],
  attempt: (world) => mounter.makeTarget({ ...targetOf(world), path: world.at(`prefix/dir/made-${kind}`) }, kind),
  reset(world) {
    for (const place of ["dir", "other"]) {
      using held = world.hold(`prefix/${place}`);
      if (held !== undefined) rmSync(`${held.path}/made-${kind}`, { recursive: true, force: true });
    }
  },
});

const makingDeep: Race = {
  name: "makeTarget with directories above it",
  errnos: ["ENOENT"],
  strategies: (world) => [
    ...above(world),
    exchange(world.at("prefix/dir/foreign"), world.at("prefix/dir/full"), "exchange with another's mount"),
  ],
  async attempt(world) {
    await mounter.makeTarget({ prefix: world.at("prefix"), path: world.at("prefix/dir/full/a/b/target") }, "directory");
  },
  reset(world) {
    for (const place of ["dir", "other", "dir/full"]) {
      using held = world.hold(`prefix/${place}`);
      if (held === undefined) continue;
      try {
        rmSync(`${held.path}/${place === "dir/full" ? "a" : "full/a"}`, { recursive: true, force: true });
      } catch (error) {
        if (errnoOf(error) === undefined) throw error; // swapped while it was removed: the next time it goes
      }
    }
  },
};

/** What is not empty is another's, and stays whatever it is called. */
const removing = (kind: "directory" | "file"): Race => {
  const precious = kind === "directory" ? "prefix/dir/full" : "prefix/dir/precious";
  let inode = 0;
  const remake = (world: World) => {
    for (const place of ["prefix/dir", "prefix/other"]) {
      using held = world.hold(place);
      if (held === undefined) continue;
      try {
        if (kind === "directory") mkdirSync(`${held.path}/target`);
        else writeFileSync(`${held.path}/target`, "", { flag: "wx" });
      } catch (error) {
        if (errnoOf(error) === undefined) throw error; // it is there, or a link, or the directory has gone
      }
    }
  };
  return {
    name: `removeTarget of a ${kind}`,
    errnos: kind === "directory" ? ["ENOTDIR"] : ["EISDIR"],
    strategies: (world) => [
      ...above(world),
      exchange(world.at("prefix/dir/target"), world.at("prefix/dir/leaflink"), "exchange of the target with a link"),
      exchange(world.at("prefix/dir/target"), world.at(precious), "exchange of the target with another's, not empty"),
      exchange(
        world.at("prefix/dir/target"),
        world.at("prefix/dir/foreign"),
        "exchange of the target with another's mount",
      ),
      ...(kind === "file" ? [unlinkAndLink(world.at("prefix/dir/target"), world.at("outside/file"))] : []),
    ],
    async prepare(world) {
      if (kind === "file") {
        for (const place of ["dir", "other"]) rmdirSync(world.at(`prefix/${place}/target`));
        writeFileSync(world.at(precious), "content");
      }
      remake(world);
      inode = statSync(world.at(precious)).ino;
    },
    async attempt(world) {
      await mounter.removeTarget(targetOf(world), kind);
      // It was not removed.
      if (statSync(targetOf(world).path, { throwIfNoEntry: false }) !== undefined) throw nothing();
    },
    reset: remake,
    check(world) {
      const names = [precious, "prefix/dir/target"].map(
        (name) => statSync(world.at(name), { throwIfNoEntry: false })?.ino,
      );
      expect(names, "what is another's is there, with its content").to.include(inode);
      if (kind === "file") unlinkSync(world.at(precious));
    },
  };
};

/** Operations of the mounter that look at a source, or make and remove what is mounted on. */
export const makeRaces: readonly Race[] = [
  inspecting("inspect, without links", mounter),
  inspecting("inspect, links followed", following),
  makingSource("directory"),
  makingSource("file"),
  bindingSource("bind: the source, without links", mounter),
  bindingSource("bind: the source, links followed", following),
  makingTarget("directory"),
  makingTarget("file"),
  makingDeep,
  removing("directory"),
  removing("file"),
];
