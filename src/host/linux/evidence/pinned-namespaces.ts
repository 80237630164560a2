import { openSync } from "node:fs";
import { constants } from "node:os";
import { messageOf } from "../../../errors.ts";
import { AT_EMPTY_PATH, AT_STATX_DONT_SYNC, CLONE_NEWNS, O, RESOLVE } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { Errno, errnoOf, ifThere, unlessGone } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { EnteredNamespace, type EnteringChild } from "./entered-namespace.ts";
import { listedNamespace, type NamespaceCalls, nameOf } from "./listed-namespaces.ts";
import {
  filesSeenBy,
  loaded,
  type NamespaceReference,
  namespaceReferences,
  nsfsDevice,
  type VisitedNamespaces,
} from "./namespace-references.ts";
import { scanTable } from "./scan-table.ts";
import { type MountFilter, unreadable } from "./seen-mount.ts";

/** A mount namespace that no process is in: a file or a bind mount keeps it alive. */
interface PinnedNamespace {
  readonly name: string;
  id(): string | undefined;
  scan(filter: MountFilter): Promise<boolean>;
  /** Who is in it, or what keeps it, for people. */
  members(): { readonly pid: number } | { readonly kept: string };
}

/** Whoever may make namespaces can keep tens of thousands, and a child process is started for each. */
export const mostPinned = 500;

/** What is there, or may be, and cannot be read. */
export interface Unread {
  /** Of the namespace, as /proc calls it, or the path of what may be one. */
  readonly name: string;
  readonly why: string;
}

/** Of all passes of a look together. */
export interface PinnedState {
  /** How many may still be entered, or found not to be readable. */
  left: number;
  /**
   * Names of those that were visited, and in which one was found that could not be read: nothing else may lead to it.
   */
  readonly again: Set<string>;
}

/** Dependencies of visiting mount namespaces without processes. */
export interface PinnedVisit extends VisitedNamespaces {
  readonly calls: NamespaceCalls;
  /** Enters what is kept; undefined: the kernel is asked by its id (Linux 6.11), but not what a file in it keeps. */
  readonly entering: EnteringChild | undefined;
  readonly state: PinnedState;
  readonly visit: (namespace: PinnedNamespace) => Promise<boolean>;
}

/** A namespace whose processes do not show all of it, and one of them. */
export interface HiddenPlace {
  readonly pid: number;
  readonly name: string;
  /** A link of /proc that opens it. */
  readonly path: string;
}

/** One that is held open until it was visited. */
interface OpenPlace extends Pick<NamespaceReference, "what" | "pid"> {
  readonly name: string;
  readonly file: Descriptor;
  /** Names of those by way of which it was found. */
  readonly within: readonly string[];
}

type FilesOf = (thread: string) => Promise<readonly NamespaceReference[] | undefined>;

/**
 * Visits mount namespaces that no process is in, as far as processes show what keeps them: an open descriptor, or a
 * file of nsfs that is mounted where they see it, or in another one that is kept; and those whose processes hide what
 * is mounted there.
 * @returns those that are there, or may be, and cannot be read, and why; "again" if threads have ended meanwhile that
 * show what others may, too
 */
export async function visitPinned(
  kept: PinnedVisit & { readonly hidden: readonly HiddenPlace[] },
): Promise<readonly Unread[] | "again"> {
  const places = await namespaceReferences(kept);
  const hidden = kept.hidden.map((place) => ({ ...place, what: `process ${place.pid}` }));
  return places === undefined ? "again" : visitPlaces(kept, [...hidden, ...places]);
}

/**
 * One child at a time: what is kept in one that is kept is opened by way of that, and entered later.
 * @returns as visitPinned
 */
export async function visitPlaces(
  kept: PinnedVisit,
  places: readonly NamespaceReference[],
  filesOf: FilesOf = filesSeenBy,
): Promise<readonly Unread[]> {
  const unknown = new Map<string, string>();
  const entered = new Set<string>();
  for (const place of places) {
    await new Promise((resolve) => setImmediate(resolve));
    const waiting: OpenPlace[] = [];
    openPlace(kept, place, { unknown, entered, waiting, within: [] });
    try {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        using file = next.file;
        entered.add(next.name);
        const left = { unknown, entered, waiting, within: [...next.within, next.name] };
        const why = await visitOpen(kept, { ...next, file }, left, filesOf);
        if (why === undefined) continue;
        unknown.set(next.name, `${next.what} keeps ${next.name}: ${why}`);
        for (const name of next.within) kept.state.again.add(name);
      }
    } finally {
      for (const { file } of waiting) file[Symbol.dispose]();
    }
  }
  return [...unknown].flatMap(([name, why]) => (kept.seen.has(name) ? [] : [{ name, why }]));
}

interface Left {
  /** By its name or path, why one cannot be read. */
  readonly unknown: Map<string, string>;
  /** In this pass. */
  readonly entered: ReadonlySet<string>;
  /** Those that are open, and were not visited yet. */
  readonly waiting: OpenPlace[];
  readonly within: readonly string[];
}

function openPlace(kept: PinnedVisit, place: NamespaceReference, { unknown, entered, waiting, within }: Left): void {
  const { seen, state } = kept;
  const { path, what, name, pid } = place;
  const isKnown = (one: string) =>
    entered.has(one) || (seen.has(one) && !state.again.has(one)) || waiting.some((other) => other.name === one);
  const leave = (of: string | undefined, why: string) => {
    if (!unknown.has(of ?? path)) state.left -= 1;
    unknown.set(of ?? path, `${what} ${of === undefined ? "may keep a mount namespace" : `keeps ${of}`}: ${why}`);
    for (const outer of within) state.again.add(outer);
  };
  if (name !== undefined && isKnown(name)) return;
  const tooMany = waiting.length >= state.left;
  const file = tooMany && name !== undefined ? limit : openOrSay(kept, place);
  if (typeof file === "string") leave(name, file);
  if (file === undefined || typeof file === "string") return;
  const found = nameOf(file.fd);
  if (!tooMany && !isKnown(found)) {
    waiting.push({ name: found, what, file, within, ...(pid !== undefined && { pid }) });
    return;
  }
  file[Symbol.dispose]();
  if (!isKnown(found)) leave(found, limit);
}

const limit = `more than ${mostPinned} without a process are not checked`;

/** @returns why it is not open; undefined if it is none */
function openOrSay({ calls }: PinnedVisit, place: NamespaceReference): Descriptor | string | undefined {
  const elsewhere = "something else is in its place";
  const hangs = "the way there may hang";
  if (place.mayHang !== undefined) return place.mayHang;
  try {
    return openNamespace(place, { libc: loaded(), calls }) ?? (place.name === undefined ? undefined : elsewhere);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    if (errno !== "EAGAIN") return messageOf(error);
    return place.way?.mayHang() === false ? elsewhere : hangs;
  }
}

/** @returns why it cannot be read */
async function visitOpen(
  kept: PinnedVisit,
  { name, what, pid, file }: OpenPlace,
  left: Left,
  filesOf: FilesOf,
): Promise<string | undefined> {
  const { calls, entering, seen, visit, state } = kept;
  const found = { name, members: () => (pid === undefined ? { kept: what } : { pid }) };
  state.left -= 1;
  state.again.delete(name);
  try {
    if (entering === undefined) {
      const { id, scan } = listedNamespace(calls, file.fd);
      await visit({ ...found, id: () => `${id}`, scan: (filter) => scan(filter).then(() => true) });
      seen.add(name);
      return undefined;
    }
    await using entered = startedBy(entering);
    const refused = await entered.enter(file, name);
    if (refused !== undefined) return refused;
    const scan = (filter: MountFilter) => scanTable(`${entered.thread}/mountinfo`, filter);
    const files = await filesOf(entered.thread);
    const isRead =
      files !== undefined && (seen.has(name) || (await visit({ ...found, id: () => idOf(calls, file), scan })));
    if (!isRead) return "a child process in it has ended";
    seen.add(name);
    for (const inside of files) openPlace(kept, inside, left);
    return undefined;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    return errno === "ENOTTY" ? "before Linux 6.11 no kernel shows what is mounted there" : messageOf(error);
  }
}

/** @throws VolumeError StillReferenced: of too little memory it is tried again, and nothing is unknown for good */
function startedBy(entering: EnteringChild): EnteredNamespace {
  try {
    return new EnteredNamespace(entering);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    throw unreadable(`a child process did not start: ${messageOf(error)}`, error);
  }
}

/** None of an older kernel. */
function idOf(calls: NamespaceCalls, { fd }: Descriptor): string | undefined {
  return ifThere(() => `${calls.namespaceID(fd)}`);
}

/** Dependencies of opening a kept namespace. */
export interface OpenPinnedCalls {
  readonly libc: Pick<Libc, "openat2" | "statx">;
  readonly calls: Pick<NamespaceCalls, "namespaceType">;
}

const plain = RESOLVE.IN_ROOT | RESOLVE.NO_SYMLINKS;

/**
 * Opens what keeps a mount namespace. Nothing on the way is waited for, and neither is the file that is there: whoever
 * made them may let no call of ours end. It is opened for real only when it is a namespace: to open a pipe or device
 * may wait, or do something.
 * @returns undefined if it is gone, or no mount namespace
 * @throws Errno EAGAIN if the way there may hang, and perhaps if it is gone
 */
export function openNamespace(place: NamespaceReference, { libc, calls }: OpenPinnedCalls): Descriptor | undefined {
  const found = unlessGone(() => openPath(place, libc));
  if (found === undefined) return undefined;
  using there = found;
  if (libc.statx(there.fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC).device !== nsfsDevice()) return undefined;
  const file = new Descriptor(openSync(there.path, "r"));
  if (calls.namespaceType(file.fd) === CLONE_NEWNS) return file;
  file[Symbol.dispose]();
  return undefined;
}

/** A link of /proc leads to the open file itself. The kernel keeps a mount point and all above it in its memory. */
function openPath({ path, way }: NamespaceReference, libc: OpenPinnedCalls["libc"]): Descriptor {
  if (way === undefined) return new Descriptor(openSync(path, O.PATH));
  using root = new Descriptor(openSync(way.root, O.PATH | O.DIRECTORY));
  const open = (resolve: number) => new Descriptor(libc.openat2(root.fd, path, O.PATH | O.CLOEXEC, 0, resolve));
  try {
    return open(plain | RESOLVE.CACHED);
  } catch (error) {
    if (errnoOf(error) !== "EINVAL") throw error;
    // Before Linux 5.12: as far as the mount table tells.
    if (way.mayHang()) throw new Errno("openat2", constants.errno.EAGAIN, path);
    return open(plain);
  }
}
