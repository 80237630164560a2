import { fstatSync, openSync, statSync } from "node:fs";
import { messageOf } from "../../errors.ts";
import { CLONE_NEWNS, O } from "./constants.ts";
import { Descriptor } from "./descriptor.ts";
import { EnteredNamespace } from "./entered-namespace.ts";
import { errnoOf } from "./errno.ts";
import { filesSeenBy, type KeptPlace, type Looked, placesThatKeep } from "./kept-places.ts";
import { listedNamespace, type NamespaceCalls, nameOf } from "./listed-namespaces.ts";
import { scanTable } from "./scan-table.ts";
import { type MountFilter, unreadable } from "./seen-mount.ts";
import { unlessGone } from "./unless-gone.ts";

/** Our own program in the role `child`. */
export type ChildCommand = readonly [string, ...string[]];

export interface KeptNamespace {
  readonly name: string;
  id(): string | undefined;
  scan(filter: MountFilter): Promise<boolean>;
  /** What keeps it, for people. */
  members(): { readonly kept: string };
}

interface KeptVisit extends Looked {
  readonly calls: NamespaceCalls;
  /**
   * Enters what is kept; undefined: the kernel is asked by its id (Linux 6.11), which does not tell what is kept by a
   * file in it.
   */
  readonly command: ChildCommand | undefined;
  readonly visit: (namespace: KeptNamespace) => Promise<boolean>;
}

/**
 * Visits mount namespaces that no process is in, as far as processes show what keeps them: an open descriptor, or a
 * file of nsfs that is mounted where they see it, or in another one that is kept.
 * @returns those that are there, or may be, and cannot be read, and why; "again" if threads have ended meanwhile that
 * show what others may, too
 */
export async function visitKept(kept: KeptVisit): Promise<readonly string[] | "again"> {
  const places = await placesThatKeep(kept);
  if (places === undefined) return "again";
  const unknown = new Map<string, string>();
  for (const place of places) await visitPlace(kept, place, unknown);
  return [...unknown].filter(([name]) => !kept.seen.has(name)).map(([, why]) => why);
}

/** @param unknown gets, by its name or path, what cannot be read, and why */
async function visitPlace(kept: KeptVisit, place: KeptPlace, unknown: Map<string, string>): Promise<void> {
  const { calls, command, seen, visit } = kept;
  const { path, what } = place;
  let { name } = place;
  const isSeen = () => name !== undefined && seen.has(name);
  const leave = (why: string) => {
    const may = name === undefined ? `${what} may keep a mount namespace` : `${what} keeps ${name}`;
    unknown.set(name ?? path, `${may}: ${why}`);
  };
  if (isSeen()) return;
  if (place.mayHang !== undefined) return leave(place.mayHang);
  try {
    using file = openNamespace(calls, path);
    if (file === undefined) return name === undefined ? undefined : leave("something else is in its place");
    name = nameOf(file.fd);
    if (isSeen()) return;
    const found = { name, members: () => ({ kept: what }) };
    if (command === undefined) {
      const { id, scan } = listedNamespace(calls, file.fd);
      await visit({ ...found, id: () => `${id}`, scan: (filter) => scan(filter).then(() => true) });
      seen.add(name);
      return;
    }
    await using entered = startedBy(command);
    const refused = await entered.enter(file, name);
    if (refused !== undefined) return leave(refused);
    const scan = (filter: MountFilter) => scanTable(`${entered.thread}/mountinfo`, filter);
    const files = await filesSeenBy(entered.thread);
    const isRead = files !== undefined && (await visit({ ...found, id: () => idOf(calls, file), scan }));
    if (!isRead) return leave("a child process in it has ended");
    seen.add(name);
    for (const inside of files) await visitPlace(kept, inside, unknown);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    leave(errno === "ENOTTY" ? "before Linux 6.11 no kernel tells what is mounted there" : messageOf(error));
  }
}

/** @throws VolumeError StillReferenced: of too little memory it is tried again, and nothing is unknown for good */
function startedBy(command: ChildCommand): EnteredNamespace {
  try {
    return new EnteredNamespace(command);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    throw unreadable(`a child process did not start: ${messageOf(error)}`, error);
  }
}

/** None of an older kernel. */
function idOf(calls: NamespaceCalls, { fd }: Descriptor): string | undefined {
  try {
    return `${calls.namespaceID(fd)}`;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/**
 * Opened for real only when it is a namespace: to open a pipe or device may wait, or do something.
 * @returns undefined if it is gone, or no mount namespace
 */
function openNamespace(calls: NamespaceCalls, path: string): Descriptor | undefined {
  const fd = unlessGone(() => openSync(path, O.PATH));
  if (fd === undefined) return undefined;
  using place = new Descriptor(fd);
  if (fstatSync(place.fd).dev !== statSync("/proc/self/ns/mnt").dev) return undefined;
  const file = new Descriptor(openSync(place.path, "r"));
  if (calls.namespaceType(file.fd) === CLONE_NEWNS) return file;
  file[Symbol.dispose]();
  return undefined;
}
