import type { MountAttributes } from "../../../src/host/ports/types.ts";
import { plainAttributes } from "../kernel/mount.ts";
import { layout } from "../machine.ts";
import type { SeededRandom } from "../random.ts";
import type { Script } from "./compare.ts";
import type { Operation, Place } from "./operations.ts";
import type { Snapshot } from "./snapshot.ts";
import { randomStory } from "./stories.ts";

const { prefix, stateDir, sources } = layout;

/** Paths are few, so that operations meet; some are never there. */
const targets = ["a", "b", "a/x", "b/x", "a/x/y", "l", "l/x"].map((name) => `${prefix}/${name}`);
const staged = ["s1", "s2", "s1/x"].map((name) => `${stateDir}/staging/${name}`);
const found = ["", "/a", "/b", "/a/x", "/b/x", "/f", "/l", "/l/x", "/m"].map((name) => `${sources}${name}`);
const data = ["d1", "d2"].map((name) => `${stateDir}/data/${name}`);
const elsewhere = ["/data", "/data/x", "/host/srv/a", "/host/mnt/nodevolume/a"];
/** Where links lead: to what is there, out of it, nowhere, and to themselves. */
const links = ["/srv/a", "b", "../srv/b", "/mnt/nodevolume/a", "nothing", "l"];

const attributes: readonly MountAttributes[] = [
  plainAttributes,
  { ...plainAttributes, readOnly: true, nosuid: true, nodev: true },
  { ...plainAttributes, noexec: true, nosymfollow: true, atime: "noatime" },
  { ...plainAttributes, nodev: true, nodiratime: true, atime: "strictatime" },
];
const tmpfsOptions: readonly (readonly string[])[] = [[], ["size=4096k"], ["size=8192k", "mode=700"], ["bogus=1"]];

/**
 * A sequence of operations. Half of the paths are of what is there; what depends on another operation may come right
 * after it, so that it succeeds now and then.
 */
export function randomScript(random: SeededRandom, count: number): Script {
  const next: Operation[] = [];
  let left = count;
  return (now) => {
    if (left-- === 0) return undefined;
    while (next.length === 0) {
      if (random.chance(0.1)) next.push(...randomStory(random));
      else next.push(...(random.chance(0.5) ? agentDoes(random, now) : somebodyDoes(random, now)));
    }
    return next.shift();
  };
}

function agentDoes(random: SeededRandom, now: Snapshot): Operation[] {
  const mounted = (now.points.get("agent") ?? now.points.get("host") ?? []).filter((point) => isTarget(point));
  const any = random.pick([...targets, ...targets, ...staged]);
  const target = mounted.length > 0 && random.chance(0.5) ? random.pick(mounted) : any;
  const free = random.chance(0.8) ? any : target;
  const source = random.pick([...found, ...data, ...staged]);
  const of = random.chance(0.8) ? "directory" : "file";
  const flags = random.pick(attributes);
  const layer = random.pick([0, 0, 0, 0, 1, -1]);
  const path = random.pick([...data, ...staged]);
  return random.pick<() => Operation[]>([
    () => [{ kind: "inspect", source }],
    () => [{ kind: "makeSource", source, of }],
    () => [{ kind: "inspectTarget", target }],
    () => [{ kind: "makeTarget", target: free, of }],
    () => [{ kind: "removeTarget", target, of }],
    () => [{ kind: "bind", source, target, fresh: random.chance(0.7), attributes: flags }],
    () => [
      { kind: "makeTarget", target: free, of: source === "/srv/f" ? "file" : "directory" },
      { kind: "bind", source: random.chance(0.3) ? "/srv/a" : source, target: free, fresh: true, attributes: flags },
    ],
    () => [
      { kind: "makeTarget", target: free, of: "directory" },
      { kind: "mountTmpfs", target: free, options: random.pick(tmpfsOptions), attributes: flags },
    ],
    () => [
      { kind: "inspect", source: "/srv/a" },
      { kind: "makeTarget", target: free, of: "directory" },
      { kind: "bind", source: "/srv/a", target: free, fresh: false, attributes: flags },
    ],
    () => [{ kind: "setAttributes", target, layer, attributes: flags }],
    () => [{ kind: "reconfigure", target, layer, options: random.pick(tmpfsOptions) }],
    () => [{ kind: "unmount", target, layer, unmountMode: random.pick(["Normal", "Normal", "Force", "Lazy"]) }],
    () => [
      { kind: "unmount", target, layer: 0, unmountMode: "Normal" },
      { kind: "removeTarget", target, of: "directory" },
    ],
    () => [{ kind: "holders", target }],
    () => [{ kind: "mountedOn", target }],
    () => [{ kind: "users", target }],
    () => [{ kind: "makeDirectory", path, mode: random.pick([0o700, 0o755, 0o1777]) }],
    () => [{ kind: "identify", path }],
    () => [
      {
        kind: "writePayload",
        path: random.pick(data),
        files: random.pick([{}, { key: "1" }, { key: "2", "in/side": "3" }]),
      },
    ],
    () => [{ kind: "removeDirectory", path }],
    () => [
      { kind: "identify", path },
      { kind: "discard", path },
    ],
    () => [{ kind: "discard", path }],
    () => [{ kind: "emptyTrash" }],
  ])();
}

function somebodyDoes(random: SeededRandom, now: Snapshot): Operation[] {
  const others: Place[] = now.points.has("container") ? ["agent", "container"] : ["agent"];
  const place: Place = random.chance(0.6) ? "host" : random.pick(others);
  // With the agent on the host both are one.
  const seen = place === "agent" && !now.points.has("agent") ? "host" : place;
  const anywhere = () => random.pick([...targets, ...targets, ...found, ...staged, ...data, ...elsewhere]);
  const there = (paths: readonly string[] | undefined) =>
    paths !== undefined && paths.length > 0 && random.chance(0.75) ? random.pick(paths) : anywhere();
  const mounted = () => there(now.points.get(seen)?.filter((point) => point !== "/" && isWithin(point)));
  const present = () => there(now.paths.get(seen)?.filter(isWithin));
  const path = random.chance(0.7) ? present() : anywhere();
  const recursive = random.chance(0.3);
  const to = random.chance(0.6) ? present() : anywhere();
  const mount = mounted();
  return random.pick<() => Operation[]>([
    () => [{ kind: "mkdir", place, path }],
    () => [{ kind: "write", place, path, content: "x" }],
    () => [
      { kind: "symlink", place, to: random.pick(links), path: random.pick([`${prefix}/l`, `${sources}/l`, path]) },
    ],
    () => [{ kind: "mknod", place, path }],
    () => [{ kind: "rmdir", place, path }],
    () => [{ kind: "unlink", place, path }],
    () => [{ kind: "rename", place, from: path, to }],
    () => [{ kind: "foreignTmpfs", place, path }],
    () => [{ kind: "foreignTmpfs", place, path: `${sources}/m` }],
    () => [{ kind: "foreignBind", place, from: path, to, recursive }],
    () => [{ kind: "foreignBind", place, from: path, to, recursive }],
    () => [{ kind: "move", place, from: mount, to }],
    // Only what is in a private mount can be moved.
    () => [
      { kind: "foreignTmpfs", place, path: `${sources}/m` },
      { kind: "propagation", place, path: `${sources}/m`, type: "private", recursive: false },
      { kind: "mkdir", place, path: `${sources}/m/in` },
      { kind: "foreignBind", place, from: path, to: `${sources}/m/in`, recursive },
      { kind: "move", place, from: `${sources}/m/in`, to },
    ],
    () => [{ kind: "umount", place, path: mount, lazy: random.chance(0.4) }],
    () => [{ kind: "umount", place, path: mount, lazy: random.chance(0.4) }],
    () => [{ kind: "remount", place, path: mount, attributes: random.pick(attributes) }],
    () => [
      {
        kind: "propagation",
        place,
        path: random.chance(0.2) ? random.pick([prefix, stateDir, "/", "/data"]) : mount,
        type: random.pick(["shared", "slave", "private"]),
        recursive,
      },
    ],
    () => [{ kind: "open", place, path: random.chance(0.5) ? mount : path }],
    () => [{ kind: "letGo", place }],
    () => [
      random.chance(0.3)
        ? { kind: "unshareHost" }
        : { kind: "startContainer", path: there(now.points.get("host")?.filter(isWithin)) },
    ],
    () => [{ kind: "endContainer" }],
  ])();
}

function isTarget(path: string): boolean {
  return path.startsWith(`${prefix}/`) || path.startsWith(`${stateDir}/staging/`);
}

/** Whether people may do what they like there: the node's own directories stay, and what is in the trash. */
function isWithin(path: string): boolean {
  return /^(?:\/host)?(?:\/srv|\/mnt\/nodevolume|\/var\/lib\/nodevolume\/staging)\/|^\/data(?:\/|$)/.test(path);
}
