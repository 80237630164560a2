import { isLocal } from "../../host/mount-table/may-block.ts";
import {
  describeRemote,
  type FileSystemErrors,
  type RemoteMount,
  type ServerAnswer,
  type Servers,
} from "../../host/ports/servers.ts";
import type { Cancel, System } from "../../ports.ts";
import type { ServerUnresponsive } from "../model/actual-volume.ts";
import type { VolumeName } from "../model/identities.ts";
import type { OperationKind } from "../model/operation.ts";
import type { Plan, PlanListener, VolumePlan } from "../model/volume-plan.ts";

/** Milliseconds between two questions, give or take a quarter: a question costs a process, and the server an answer. */
const intervalMs = 15_000;
/** The same of a server that does not answer: that it is back is to be seen soon. */
const unresponsiveMs = 5_000;
/** The target of a probe: a mount of a server, or the disk of a mount. */
interface Asked {
  readonly mount: RemoteMount;
  /** `major:minor` of a disk that comes from afar, or is made of others. */
  readonly disk?: string;
  /** `major:minor` of a disk whose file system counts its errors in sysfs. */
  readonly telling?: string;
}
/** Milliseconds after which a server counts as unresponsive. NFS retransmits only after 60 s unless timeo= is set. */
const deadlineMs = 10_000;

/** Dependencies of probing the servers of mounted network volumes. */
export interface ServerWatchDeps {
  readonly system: Pick<System, "timers" | "random">;
  readonly servers: Servers;
  /** The kind of the operation of a volume that runs now; undefined if none does. */
  runs(volume: VolumeName): OperationKind | undefined;
  /** Another server does not answer than before, or one does again. */
  onChange(): void;
}

/**
 * Probes the servers of mounted volumes. A server that stops raises no event, and the mount table still lists its mount
 * (decision 0042). Probes are independent of everything else: nothing waits for their results, and nothing is unmounted
 * or remounted because of them.
 */
export class ServerWatch implements PlanListener {
  readonly #deps: ServerWatchDeps;
  readonly #asked = new Map<VolumeName, { readonly what: Asked; cancel: Cancel }>();
  readonly #unresponsive = new Map<VolumeName, ServerUnresponsive>();
  #stopped = false;

  constructor(deps: ServerWatchDeps) {
    this.#deps = deps;
  }

  /** By intent. A problem is the same object until it is another one. */
  get unresponsive(): ReadonlyMap<VolumeName, ServerUnresponsive> {
    return this.#unresponsive;
  }

  /** Begins with volumes that are mounted now, ends with those that are not, or not to be. */
  planned({ changed, volumes }: Pick<Plan, "changed" | "volumes">): void {
    if (this.#stopped) return;
    for (const name of changed.keys()) {
      const plan = volumes.get(name);
      // A probe would keep the mount busy, and its result means nothing during an unmount.
      const goes = this.#deps.runs(name) === "unstage";
      const what = plan && !goes ? askedOf(plan) : undefined;
      const known = this.#asked.get(name)?.what;
      if (isSame(known, what)) continue;
      this.#forget(name);
      if (what === undefined) continue;
      this.#asked.set(name, { what, cancel: () => {} });
      this.#after(name, what, intervalMs * this.#deps.system.random.next());
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const name of [...this.#asked.keys()]) this.#forget(name);
  }

  #forget(name: VolumeName): void {
    const known = this.#asked.get(name);
    if (known === undefined) return;
    known.cancel();
    this.#deps.servers.giveUp(known.what.mount.point);
    this.#asked.delete(name);
    this.#set(name, undefined);
  }

  #after(name: VolumeName, what: Asked, ms: number): void {
    const known = this.#asked.get(name);
    if (known !== undefined) known.cancel = this.#deps.system.timers.after(ms, () => void this.#ask(name, what));
  }

  async #ask(name: VolumeName, what: Asked): Promise<void> {
    const { mount, disk, telling } = what;
    const { servers } = this.#deps;
    const answer = await this.#answerOf(what);
    if (this.#asked.get(name)?.what !== what) return; // it went meanwhile, or is another one
    const problemOf = disk === undefined ? serverProblem : diskProblem;
    const errors = telling === undefined ? undefined : servers.errors(telling);
    const damage = errors && damageOf(mount, errors);
    this.#set(name, answer.answers ? damage : problemOf(mount, answer));
    const base = answer.answers ? intervalMs : unresponsiveMs;
    this.#after(name, what, base * (0.75 + this.#deps.system.random.next() / 2));
  }

  async #answerOf({ mount, disk, telling }: Asked): Promise<ServerAnswer> {
    const { servers } = this.#deps;
    if (disk !== undefined) return servers.disk(disk);
    return telling === undefined ? servers.ask(mount, deadlineMs) : { answers: true };
  }

  #set(name: VolumeName, problem: ServerUnresponsive | undefined): void {
    if (this.#unresponsive.get(name)?.message === problem?.message) return;
    if (problem === undefined) this.#unresponsive.delete(name);
    else this.#unresponsive.set(name, problem);
    if (!this.#stopped) this.#deps.onChange();
  }
}

/**
 * PURE. The probe target of a volume from a server, of a disk attached to the node, or of a file system that counts its
 * errors; undefined while it is not mounted, and once it is to be unmounted.
 */
function askedOf({ phase, actualState: { stage } }: VolumePlan): Asked | undefined {
  const { mount, record, truth } = stage;
  if (phase !== "setUp" || truth !== "mounted" || mount === undefined || record?.kind !== "filesystem")
    return undefined;
  const { fsType, source, point } = mount;
  if (!isLocal(fsType)) return { mount: { fsType, source, point } };
  const { undo, deviceNumber } = record;
  if (deviceNumber === undefined) return undefined;
  const disk = undo && { disk: deviceNumber };
  const telling = /^ext[234]$/.test(fsType) && { telling: deviceNumber };
  return disk || telling ? { mount: { fsType, source, point }, ...disk, ...telling } : undefined;
}

function isSame(a: Asked | undefined, b: Asked | undefined): boolean {
  const same = a?.mount.point === b?.mount.point && a?.mount.source === b?.mount.source;
  return same && a?.disk === b?.disk && a?.telling === b?.telling;
}

function serverProblem(mount: RemoteMount, { said }: ServerAnswer & { answers: false }): ServerUnresponsive {
  const how = said === undefined ? `has not answered within ${deadlineMs / 1000} s` : `is unreachable: ${said}`;
  const message = `the server of ${describeRemote(mount)} ${how}. ${outlook(said)}`;
  const on = { kind: "Mount", name: mount.point };
  return { reason: "ServerUnreachable", message, on, ...(said !== undefined && { said }) };
}

/** The file system stays mounted with errors=continue, and serves what is intact. */
function damageOf(mount: RemoteMount, { count, code, where }: FileSystemErrors): ServerUnresponsive {
  const on = { kind: "Device", name: mount.source };
  const met = `the kernel has met ${count} error${count === 1 ? "" : "s"} in the file system of ${mount.source}, the last one ${code}${where === "" ? "" : ` in ${where}`}`;
  if (code === "EIO") {
    const message = `${met}: the disk cannot be read. dmesg on the node has the sectors; copy what can be read, and replace it`;
    return { reason: "ReadError", message, on };
  }
  const message = `${met}. Take the node out of the set and back in: it is repaired before it is mounted again, as far as that needs no decision`;
  return { reason: "FilesystemDamaged", message, on };
}

function diskProblem(mount: RemoteMount, { said }: ServerAnswer & { answers: false }): ServerUnresponsive {
  const how =
    said === undefined
      ? "waits for its target. Its users wait; it recovers by itself when the target is back"
      : `does not work: ${said}. Its users fail; check the target, and once it is back take the node out of the set and back in if the file system does not recover by itself`;
  const message = `the disk of ${describeRemote(mount)} ${how}`;
  const on = { kind: "Device", name: mount.source };
  return { reason: "ServerUnreachable", message, on, ...(said !== undefined && { said }) };
}

/**
 * PURE. The result of a probe as a problem.
 * @param said the error in English, as strerror(3) has it
 */
function outlook(said: string | undefined): string {
  switch (said) {
    case "Stale file handle": // ESTALE
      return "Its users get errors, even after the server is back: take the node out of the set and back in";
    case "Transport endpoint is not connected": // ENOTCONN
      return "Its users get errors until the client reconnects to the server; if the client has ended, the volume is remounted by itself";
    default:
      return "Its users wait or fail; it recovers by itself when the server is back";
  }
}
