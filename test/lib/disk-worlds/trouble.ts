import { readlinkSync, renameSync, symlinkSync } from "node:fs";
import type { Randomly } from "../builders/randomly.ts";
import type { Disk, User } from "./disk.ts";
import type { DisksOfWorld } from "./disks-of-world.ts";
import { type Opening, Refused, type Somebody } from "./somebody.ts";

export interface TroubledWorld {
  readonly disks: DisksOfWorld;
  readonly somebody: Somebody;
  readonly randomly: Randomly;
  isMounted(disk: Disk): boolean;
  /** Whether what is written there now is known to be somebody's, although an mkfs of ours was cut off there. */
  isRestKnown(disk: Disk): Promise<boolean>;
  /** Whether a volume names a disk by where it is. */
  readonly names: boolean;
  /** Whether every volume that takes a disk by its fields has looked for one. */
  haveLooked(): Promise<boolean>;
}

/** Does something to one disk; false if there is none to which it could. */
type Act = (world: TroubledWorld) => Promise<boolean>;

const openings: readonly Opening[] = ["reads", "writes", "writes", "claims", "maps"];

/** Disks that are attached in one world, beside those that it has. */
const mostLate = 3;

/** Of one disk. */
const mostUsers = 4;

/** Of the nodes that were published. */
let nth = 0;

/**
 * What people, virtual machines and other drivers do to disks between two steps of the agent. What an mkfs of ours that
 * was cut off has left is nobody's until somebody has it open, or has written to it.
 */
export const troubles: { readonly [name: string]: Act } = {
  open: (world) => openOne(world, free(world)),
  // Who has written to the rest of an mkfs before it was read lets go of it when the agent has met him: decision 0013,
  // "Costs".
  close: async (world) => {
    const written = used(world).filter(({ cutOff, contents }) => cutOff !== undefined && contents === "data");
    const others = used(world).filter((disk) => !written.includes(disk));
    return toOne(world, [...others, ...(await known(world, written))], (disk) => endOne(world, disk));
  },
  "write by who has it open": (world) =>
    toOne(world, allOf(world).filter(hasWriter), async (disk) => {
      if (disk.contents === "fileSystem" || (disk.contents === "volume" && !isHalf(disk))) return;
      await world.disks.write(disk, idOf(disk.users.find(({ how }) => how === "writes" || how === "claims")));
    }),
  write: async (world) => toOne(world, await known(world, untouched(world)), (disk) => world.disks.write(disk)),
  "write raw to a cut-off disk": async (world) =>
    toOne(world, await known(world, cutOff(world).filter(isHalf)), (disk) => world.disks.write(disk)),
  "open a cut-off disk": (world) => openOne(world, cutOff(world)),
  "write to what has data": (world) =>
    toOne(
      world,
      allOf(world).filter((disk) => disk.contents === "data" && !disk.isUsed && !world.isMounted(disk)),
      (disk) => world.disks.write(disk),
    ),
  "make a file system": async (world) => {
    const disks = [...untouched(world), ...cutOff(world)];
    const whatever = await known(world, disks);
    // What has a signature is never taken for the rest of a file system that was begun, also where that was not read
    // yet.
    return toOne(world, disks, async (disk) => {
      const content = world.disks.contentFor(disk, whatever.includes(disk) ? undefined : "fileSystem");
      if (content !== undefined) await world.disks.copy(content, disk);
    });
  },
  "swap devices": async (world) => {
    const [first, second] = two(
      world,
      allOf(world).filter((disk) => isAlone(disk, world)),
    );
    if (first === undefined || second === undefined) return false;
    const of = { first_file: first.path, second_file: second.path };
    await world.somebody.ask("exchange", { first: first.device, second: second.device, ...of });
    [first.device, second.device] = [second.device, first.device];
    return true;
  },
  "swap links": async (world) => {
    const [first, second] = two(world, world.disks.links);
    if (first === undefined || second === undefined) return false;
    const [one, other] = [readlinkSync(first), readlinkSync(second)];
    point(first, other);
    point(second, one);
    return true;
  },
  "make a loop device": (world) =>
    toOne(world, free(world), (disk) => uses(disk, "loop", () => world.somebody.ask("attach", { path: disk.device }))),
  "mount where nobody sees it": (world) =>
    toOne(world, allOf(world), async (disk) => {
      if (disk.contents !== "fileSystem" || world.isMounted(disk) || disk.isUsed) return;
      const of = { device: disk.device, kind: "ext4", point: "/mnt", reads: world.randomly.below(2) === 0 };
      await uses(disk, "mount", () => world.somebody.ask("mount_hidden", of));
    }),
  "publish its node": (world) =>
    toOne(world, free(world), async (disk) => {
      const point = `/mnt/published-${world.randomly.seed}-${disk.name}-${nth++}`;
      await uses(disk, "bind", async () => {
        await world.somebody.ask("bind", { source: disk.device, point });
        return point;
      });
    }),
  "attach a disk": async (world) => {
    if (allOf(world).filter(({ late }) => late).length >= mostLate || !(await world.haveLooked())) return false;
    (await world.disks.attach()).late = true;
    return true;
  },
  "divide it": (world) =>
    toOne(
      world,
      untouched(world).filter(({ path, device }) => path !== device),
      async (disk) => {
        const of = { device: disk.device, start: 1 << 20, length: 1 << 20 };
        await uses(disk, "partition", async () => {
          await world.somebody.ask("partition", of);
          return disk.device;
        });
      },
    ),
};

/** What people do of which there would be too little, as few mkfs are cut off. */
export const ofCutOff: readonly string[] = ["write raw to a cut-off disk", "open a cut-off disk", "make a file system"];

/** Ends all that somebody does with the disks. */
export async function endAll(world: TroubledWorld): Promise<void> {
  for (const disk of world.disks.disks) while (disk.users.some(isLooser(disk))) await endOne(world, disk);
}

/** A partition that is a disk of its own stays, and so does a second name. */
function isLooser(disk: Disk): (user: User) => boolean {
  return ({ how }) => how !== "alias" && (how !== "partition" || disk.end === disk.size);
}

async function endOne({ somebody, randomly }: TroubledWorld, disk: Disk): Promise<void> {
  const loose = disk.users.filter(isLooser(disk));
  if (loose.length === 0) return;
  const { how, by } = randomly.one(loose);
  if (typeof by === "number") await somebody.ask("close", { id: by });
  else if (how === "loop") await somebody.ask("detach", { device: by });
  else if (how === "bind") await somebody.ask("unbind", { point: by });
  else await somebody.ask("no_partition", { device: by });
  disk.users.splice(
    disk.users.findIndex((user) => user.by === by),
    1,
  );
}

/** The kernel may have refused it: somebody else has claimed it. */
async function uses(disk: Disk, how: User["how"], act: () => Promise<number | string>): Promise<void> {
  try {
    disk.users.push({ how, by: await act() });
  } catch (error) {
    if (!(error instanceof Refused) || error.errno !== "EBUSY") throw error;
  }
}

function allOf({ disks }: TroubledWorld): Disk[] {
  return disks.disks;
}

function openOne(world: TroubledWorld, disks: readonly Disk[]): Promise<boolean> {
  return toOne(world, disks, async (disk) => {
    const how = world.randomly.one(openings);
    await uses(disk, how, () => world.somebody.ask("open_as", { device: disk.device, how }));
  });
}

/** Those that few use: one more says something then. */
function free(world: TroubledWorld): Disk[] {
  return allOf(world).filter(({ users }) => users.length < mostUsers);
}

function used(world: TroubledWorld): Disk[] {
  return allOf(world).filter((disk) => disk.users.some(isLooser(disk)));
}

/** Nobody has anything on it, and no volume either. */
function untouched(world: TroubledWorld): Disk[] {
  return allOf(world).filter((disk) => disk.contents === "nothing" && !disk.isUsed);
}

/** Disks with the rest of a file system that was begun. */
function cutOff(world: TroubledWorld): Disk[] {
  return allOf(world).filter((disk) => disk.cutOff !== undefined && disk.contents === "volume" && isAlone(disk, world));
}

/** Nobody mounts what is on it. */
function isHalf({ cutOff }: Disk): boolean {
  return cutOff === "halfway";
}

function isAlone(disk: Disk, world: TroubledWorld): boolean {
  const ofFile = disk.path !== disk.device && disk.whole === undefined && disk.end === disk.size;
  return ofFile && !(disk.late && world.names) && !disk.isUsed && !world.isMounted(disk);
}

async function known(world: TroubledWorld, disks: readonly Disk[]): Promise<Disk[]> {
  const all = await Promise.all(disks.map((disk) => world.isRestKnown(disk)));
  return disks.filter((_, index) => all[index]);
}

function hasWriter(disk: Disk): boolean {
  return disk.users.some(({ how }) => how === "writes" || how === "claims");
}

function idOf(user: User | undefined): number | undefined {
  return typeof user?.by === "number" ? user.by : undefined;
}

async function toOne({ randomly }: TroubledWorld, disks: readonly Disk[], act: (disk: Disk) => Promise<void>) {
  if (disks.length === 0) return false;
  await act(randomly.one(disks));
  return true;
}

function two<T>({ randomly }: TroubledWorld, of: readonly T[]): [] | [T, T] {
  if (of.length < 2) return [];
  const first = randomly.one(of);
  return [first, randomly.one(of.filter((one) => one !== first))];
}

/** A link never points to nothing in between, as udev changes it. */
function point(link: string, to: string): void {
  symlinkSync(to, `${link}.new`);
  renameSync(`${link}.new`, link);
}
