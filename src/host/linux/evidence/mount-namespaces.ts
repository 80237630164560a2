import { openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { listed } from "../../../api/values/listed.ts";
import { messageOf } from "../../../errors.ts";
import { NamespacesUnknown, PinnedUnknown } from "../../ports/evidence.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf, ifThere, unlessGone } from "../syscall/errno.ts";
import type { EnteringChild } from "./entered-namespace.ts";
import { onlyReads } from "./entered-namespace.ts";
import { eachListedNamespace, type NamespaceCalls, nameOf } from "./listed-namespaces.ts";
import { isNamespace } from "./namespace-references.ts";
import { type HiddenPlace, mostPinned, type PinnedState, type Unread, visitPinned } from "./pinned-namespaces.ts";
import { scanTable } from "./scan-table.ts";
import { type MountFilter, newOnesComeTooFast, passes } from "./seen-mount.ts";

/** A mount namespace of the node. */
export interface MountNamespace {
  /** What /proc calls it: `mnt:[4026531841]`. */
  readonly name: string;
  /** The kernel's id of it, which no other ever gets; undefined if it cannot be had. */
  id(): string | undefined;
  /** @returns false if it could not be read to its end because the process by which it is seen has ended */
  scan(filter: MountFilter): Promise<boolean>;
  /** Who is in it, for people: a process, or if none that can be read is, those that cannot. */
  members(): NamespaceMembers;
}

/** The members of a mount namespace: a process, processes whose table could not be read, or the file that keeps it. */
interface NamespaceMembers {
  readonly pid?: number;
  /** `1 (systemd)` */
  readonly unread?: readonly string[];
  /** What keeps it, if that is known: `the file /run/kept` */
  readonly kept?: string;
}

interface Asked {
  readonly calls: NamespaceCalls;
  /** A child that enters namespaces that no process is in, if the kernel does not list them. */
  readonly entering: EnteringChild | undefined;
  /** @returns false if the namespace is to be read again by another process in it */
  readonly visit: (namespace: MountNamespace) => Promise<boolean>;
}

/** Threads that are looked at before others get a turn. */
const turn = 256;

/**
 * Visits each mount namespace of the node once: by the kernel's list, or where there is none, by the processes of
 * /proc.
 * @param visit false if the namespace is to be read again by another process in it
 * @param entering a child that enters namespaces that no process is in, if the kernel does not list them
 * @throws VolumeError StillReferenced if one cannot be read: what cannot be read is in use
 */
export async function eachMountNamespace(
  calls: NamespaceCalls,
  visit: (namespace: MountNamespace) => Promise<boolean>,
  entering?: EnteringChild,
): Promise<void> {
  let known: ReadonlyMap<string, NamespaceMembers> | undefined;
  const unlisted = await eachListedNamespace(calls, async ({ name, id, scan }) => {
    const members = () => {
      known ??= membersOfAll();
      return known.get(name) ?? known.get("") ?? {};
    };
    await visit({ name, id: () => `${id}`, members, scan: (filter) => scan(filter).then(() => true) });
  });
  if (unlisted !== undefined) await eachOfProcesses({ calls, entering, visit }, unlisted);
}

/**
 * A thread may be in another namespace than its process, and the first thread may have ended before the others: so all
 * of them are asked. A process that ends after it started another in a namespace of its own would hide that: so they
 * are gone through until nothing new is found. A namespace that no process is in is found by what keeps it, if a
 * process shows that.
 * @param unlisted why the kernel's list is not to be had
 */
async function eachOfProcesses(asked: Asked, unlisted: string): Promise<void> {
  const seen = new Set<string>();
  let unknown: string | undefined;
  const state: PinnedState = { left: mostPinned, again: new Set() };
  for (let pass = 0; pass < passes; pass++) {
    const before = seen.size;
    const { unread, readers, hidden } = await visitProcesses(asked, seen);
    if (seen.size > before) continue;
    const why = `The kernel does not list mount namespaces: ${unlisted}`;
    if (unread.size > 0) throw new NamespacesUnknown(`${unreadText(unread)}. ${why}`);
    const kept = await visitPinned({ ...asked, state, readers, hidden: [...hidden.values()], seen });
    if (kept === "again" || seen.size > before) continue;
    if (kept.length === 0) return;
    // What keeps one may have gone just now: it is looked for once more.
    if (unknown !== undefined) throw new PinnedUnknown(`${unknown}. ${why}`, namesOf(kept));
    unknown = listed(
      kept.map((one) => one.why),
      mostNamed,
    );
  }
  throw newOnesComeTooFast();
}

/** Names of namespaces that each volume may have on record, which the journal writes. */
const mostOnRecord = 2_000;

/** @returns undefined if one may be any, or there are too many to be remembered */
function namesOf(unread: readonly Unread[]): readonly string[] | undefined {
  const names = unread.map(({ name }) => name);
  return names.length <= mostOnRecord && names.every(isNamespace) ? names : undefined;
}

/** What the threads of all processes show. */
interface Shown {
  readonly unread: ReadonlyMap<string, string>;
  /** By the name of a namespace a thread whose mount table has all of it. */
  readonly readers: ReadonlyMap<string, string>;
  /** By the name of a namespace a thread in it, if none of them shows all of it. */
  readonly hidden: ReadonlyMap<string, HiddenPlace>;
}

/**
 * The mount table of a process has what lies beneath its root directory alone, which whoever may call chroot(2)
 * chooses: so one is read by a thread with that of the namespace, or else by a child in it.
 * @param seen names of those that have been visited; gets those that are now
 */
export async function visitProcesses(
  { calls, entering, visit }: Asked,
  seen: Set<string>,
  proc = "/proc",
): Promise<Shown> {
  let looks = 0;
  const unread = new Map<string, string>();
  const readers = new Map<string, string>();
  const hidden = new Map<string, HiddenPlace>();
  for (const { pid, path, name } of threads(unread, proc)) {
    if (++looks % turn === 0) await new Promise((resolve) => setImmediate(resolve));
    if (readers.has(name) && seen.has(name)) continue;
    const root = entering === undefined ? "/" : ifReadable(() => readlinkSync(`${path}/root`));
    if (root !== "/") {
      if (root !== undefined && !hidden.has(name)) hidden.set(name, { pid, name, path: `${path}/ns/mnt` });
      continue;
    }
    if (!readers.has(name)) readers.set(name, path);
    if (seen.has(name)) continue;
    const scan = (filter: MountFilter) => scanTable(`${path}/mountinfo`, filter);
    const id = () => idOf(calls, `${path}/ns/mnt`, name);
    if (await visit({ name, id, scan, members: () => ({ pid }) })) seen.add(name);
  }
  for (const name of readers.keys()) hidden.delete(name);
  return { unread, readers, hidden };
}

/** None of an older kernel, nor if the thread has ended, or is in another namespace by now. */
function idOf(calls: Pick<NamespaceCalls, "namespaceID">, link: string, name: string): string | undefined {
  return ifThere(() => {
    using file = new Descriptor(openSync(link, "r"));
    return nameOf(file.fd) === name ? `${calls.namespaceID(file.fd)}` : undefined;
  });
}

/** By the name of a namespace the first process in it; by "" those of which it is not known. */
function membersOfAll(): ReadonlyMap<string, NamespaceMembers> {
  const unread = new Map<string, string>();
  const all = new Map<string, NamespaceMembers>();
  for (const { pid, name } of threads(unread)) if (!all.has(name)) all.set(name, { pid });
  return unread.size === 0 ? all : all.set("", { unread: [...unread.keys()] });
}

/** @param unread gets those that cannot be read, each once: `1 (systemd)`, and why */
function* threads(
  unread: Map<string, string>,
  proc = "/proc",
): Generator<{ readonly pid: number; readonly path: string; readonly name: string }> {
  for (const pid of numbered(proc)) {
    if (onlyReads(pid)) continue;
    try {
      for (const thread of numbered(`${proc}/${pid}/task`)) {
        const path = `${proc}/${pid}/task/${thread}`;
        const name = unlessGone(() => readlinkSync(`${path}/ns/mnt`));
        if (name !== undefined) yield { pid, path, name };
      }
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      unread.set(`${pid} (${commandOf(pid)})`, messageOf(error));
    }
  }
}

const mostNamed = 5;

function unreadText(unread: ReadonlyMap<string, string>): string {
  return listed(
    [...unread].map(([process, errno]) => `process ${process}: ${errno}`),
    mostNamed,
  );
}

/** The command name of a process (/proc/PID/comm); "?" if it has ended. */
export function commandOf(pid: number): string {
  return ifThere(() => readFileSync(`/proc/${pid}/comm`, "utf8").trim()) ?? "?";
}

/** Entries of a directory of /proc that are numbers; none if it is gone. */
function numbered(directory: string): number[] {
  const names = unlessGone(() => readdirSync(directory)) ?? [];
  return names.flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

/** What a look at a process gives; undefined if it has ended. For evidence. @throws NamespacesUnknown */
export function ifReadable<T>(look: () => T): T | undefined {
  try {
    return unlessGone(look);
  } catch (error) {
    throw new NamespacesUnknown(messageOf(error), error);
  }
}
