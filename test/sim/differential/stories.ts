import type { MountAttributes } from "../../../src/host/ports/types.ts";
import { plainAttributes } from "../kernel/mount.ts";
import { layout } from "../machine.ts";
import type { SeededRandom } from "../random.ts";
import type { Operation, Place } from "./operations.ts";

const { prefix, stateDir } = layout;
const readOnly: MountAttributes = { ...plainAttributes, readOnly: true };

/** Operations that belong together, so that what only comes of several is reached: some of them, in their order. */
export function randomStory(random: SeededRandom): Operation[] {
  const target = `${prefix}/${random.pick(["a", "b", "c"])}`;
  const staged = `${stateDir}/staging/${random.pick(["s1", "s2"])}`;
  const data = `${stateDir}/data/${random.pick(["d1", "d2"])}`;
  const place: Place = random.pick(["host", "agent"]);
  const story = random.pick([volume, contained, covered, readOnlyTarget, payload, mountedInTrash, busy])({
    target,
    staged,
    data,
    place,
  });
  return story.filter(() => random.chance(0.9));
}

interface Cast {
  readonly target: string;
  readonly staged: string;
  readonly data: string;
  readonly place: Place;
}

/** The life of a volume, with somebody who uses it. */
function volume({ target, staged, place }: Cast): Operation[] {
  return [
    { kind: "makeTarget", target: staged, of: "directory" },
    { kind: "mountTmpfs", target: staged, options: ["size=4096k"], attributes: plainAttributes },
    { kind: "makeTarget", target, of: "directory" },
    { kind: "bind", source: staged, target, fresh: true, attributes: plainAttributes },
    { kind: "setAttributes", target, layer: 0, attributes: readOnly },
    { kind: "reconfigure", target: staged, layer: 0, options: ["size=8192k"] },
    { kind: "open", place, path: target },
    { kind: "users", target },
    { kind: "unmount", target, layer: 0, unmountMode: "Normal" },
    { kind: "letGo", place },
    { kind: "unmount", target, layer: 0, unmountMode: "Force" },
    { kind: "removeTarget", target, of: "directory" },
    { kind: "holders", target: staged },
    { kind: "unmount", target: staged, layer: 0, unmountMode: "Lazy" },
  ];
}

/** A container has a copy of what is mounted, in which nothing happens when the original goes. */
function contained({ target, place }: Cast): Operation[] {
  return [
    { kind: "makeTarget", target, of: "directory" },
    { kind: "mountTmpfs", target, options: [], attributes: plainAttributes },
    { kind: "unshareHost" },
    { kind: "write", place: "container", path: `${target}/f`, content: "x" },
    { kind: "unmount", target, layer: 0, unmountMode: "Normal" },
    { kind: "holders", target },
    { kind: "mountedOn", target },
    { kind: "foreignTmpfs", place: "container", path: `${target}` },
    { kind: "open", place: "container", path: target },
    { kind: "umount", place: "container", path: target, lazy: false },
    { kind: "rmdir", place, path: target },
    { kind: "mountedOn", target },
    { kind: "endContainer" },
  ];
}

/** What arrives by propagation goes beneath what is there. */
function covered({ place }: Cast): Operation[] {
  return [
    { kind: "foreignTmpfs", place: "agent", path: "/host/srv/m" },
    { kind: "mkdir", place: "agent", path: "/host/srv/m/x" },
    { kind: "foreignTmpfs", place: "host", path: "/srv/m" },
    { kind: "mkdir", place: "host", path: "/srv/m/y" },
    { kind: "foreignTmpfs", place: "host", path: "/srv/m/y" },
    { kind: "open", place, path: place === "agent" ? "/host/srv/m" : "/srv/m/y" },
    { kind: "umount", place: "host", path: "/srv/m/y", lazy: false },
    { kind: "umount", place: "host", path: "/srv/m", lazy: false },
    { kind: "letGo", place },
    { kind: "umount", place: "host", path: "/srv/m", lazy: true },
    { kind: "umount", place: "agent", path: "/host/srv/m", lazy: false },
  ];
}

function readOnlyTarget({ target, place }: Cast): Operation[] {
  return [
    { kind: "makeTarget", target, of: "directory" },
    { kind: "bind", source: "/srv/a", target, fresh: true, attributes: readOnly },
    { kind: "mkdir", place: "host", path: `${target}/new` },
    { kind: "write", place, path: `${target}/f`, content: "new" },
    { kind: "unlink", place, path: `${target}/f` },
    { kind: "rename", place, from: `${target}/f`, to: `${target}/g` },
    { kind: "rename", place: "host", from: "/srv/a/f", to: `${target}/g` },
    { kind: "rmdir", place: "host", path: "/srv/a/x" },
    { kind: "remount", place, path: target, attributes: plainAttributes },
    { kind: "write", place, path: `${target}/f`, content: "newer" },
  ];
}

function payload({ data, target }: Cast): Operation[] {
  return [
    { kind: "makeDirectory", path: data, mode: 0o755 },
    { kind: "writePayload", path: data, files: { key: "1", other: "2" } },
    { kind: "writePayload", path: data, files: { key: "1", other: "2" } },
    { kind: "writePayload", path: data, files: { "in/side": "3" } },
    { kind: "makeTarget", target, of: "directory" },
    { kind: "bind", source: data, target, fresh: true, attributes: readOnly },
    { kind: "identify", path: data },
    { kind: "discard", path: data },
    { kind: "holders", target },
    { kind: "unmount", target, layer: 0, unmountMode: "Normal" },
    { kind: "emptyTrash" },
    { kind: "discard", path: data },
  ];
}

/** What is mounted in a directory goes with it to the trash, and keeps it there. */
function mountedInTrash({ staged }: Cast): Operation[] {
  return [
    { kind: "makeTarget", target: `${staged}/x`, of: "directory" },
    { kind: "mountTmpfs", target: `${staged}/x`, options: [], attributes: plainAttributes },
    { kind: "identify", path: staged },
    { kind: "discard", path: staged },
    { kind: "emptyTrash" },
    { kind: "makeDirectory", path: staged, mode: 0o700 },
    { kind: "discard", path: staged },
  ];
}

function busy({ place }: Cast): Operation[] {
  return [
    { kind: "foreignTmpfs", place: "host", path: "/srv/m" },
    { kind: "write", place: "host", path: "/srv/m/f", content: "x" },
    { kind: "open", place: "host", path: "/srv/m/f" },
    { kind: "unlink", place: "host", path: "/srv/m/f" },
    { kind: "umount", place: "host", path: "/srv/m", lazy: false },
    { kind: "rename", place: "host", from: "/srv/m", to: "/srv/n" },
    { kind: "rmdir", place: "host", path: "/srv/m" },
    { kind: "rename", place: "host", from: "/srv/b", to: "/srv/m" },
    { kind: "umount", place: "host", path: "/srv/m", lazy: true },
    { kind: "letGo", place },
    { kind: "rename", place: "host", from: "/srv/b", to: "/srv/m" },
  ];
}
