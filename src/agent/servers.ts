import { isLocal } from "../host/may-hang.ts";
import type { RemoteMount } from "../host/remote-mount.ts";
import { describeRemote } from "../host/remote-mount.ts";
import type { ServerAnswer, Servers } from "../host/servers.ts";
import type { Cancel, System } from "../ports.ts";
import type { OperationKind } from "./operations.ts";
import type { Plan, VolumePlan } from "./plan.ts";
import type { Silence } from "./view.ts";

/** Milliseconds between two questions, give or take a quarter: a question costs a process, and the server an answer. */
const intervalMs = 15_000;
/** The same of a server that does not answer: that it is back is to be seen soon. */
const silentMs = 5_000;
/** Milliseconds after which a server that has not answered does not: NFS sends again after 60 s only if timeo= says nothing. */
const deadlineMs = 10_000;

export interface ServerWatchDeps {
  readonly system: Pick<System, "timers" | "random">;
  readonly servers: Servers;
  /** Operations that run now, by volume. */
  running(): ReadonlyMap<string, OperationKind>;
  /** Another server does not answer than before, or one does again. */
  onChange(): void;
}

/**
 * Asks the servers of volumes that are mounted whether they answer: a server that stops tells nobody, and the mount table shows what
 * it did (decision 0042). Apart from everything else: nothing waits for an answer, and nothing is done for one.
 */
export class ServerWatch {
  readonly #deps: ServerWatchDeps;
  readonly #asked = new Map<string, { readonly mount: RemoteMount; cancel: Cancel }>();
  readonly #silent = new Map<string, Silence>();
  #stopped = false;

  constructor(deps: ServerWatchDeps) {
    this.#deps = deps;
  }

  /** By intent. A problem is the same object until it is another one. */
  get silent(): ReadonlyMap<string, Silence> {
    return this.#silent;
  }

  /** Begins with volumes that are mounted now, ends with those that are not, or not to be. */
  follow({ changed, volumes }: Pick<Plan, "changed" | "volumes">): void {
    if (this.#stopped) return;
    for (const name of changed.keys()) {
      const plan = volumes.get(name);
      // Whoever asks would keep the mount busy, and what is being unmounted answers with anything.
      const goes = this.#deps.running().get(name) === "unstage";
      const mount = plan && !goes ? mountOfServer(plan) : undefined;
      const known = this.#asked.get(name);
      if (known?.mount.point === mount?.point && known?.mount.source === mount?.source) continue;
      this.#forget(name);
      if (mount === undefined) continue;
      this.#asked.set(name, { mount, cancel: () => {} });
      this.#after(name, mount, intervalMs * this.#deps.system.random.next());
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const name of [...this.#asked.keys()]) this.#forget(name);
  }

  #forget(name: string): void {
    const known = this.#asked.get(name);
    if (known === undefined) return;
    known.cancel();
    this.#deps.servers.giveUp(known.mount.point);
    this.#asked.delete(name);
    this.#set(name, undefined);
  }

  #after(name: string, mount: RemoteMount, ms: number): void {
    const known = this.#asked.get(name);
    if (known !== undefined) known.cancel = this.#deps.system.timers.after(ms, () => void this.#ask(name, mount));
  }

  async #ask(name: string, mount: RemoteMount): Promise<void> {
    const answer = await this.#deps.servers.ask(mount, deadlineMs);
    if (this.#asked.get(name)?.mount !== mount) return; // it went meanwhile, or is another one
    this.#set(name, answer.answers ? undefined : silence(mount, answer));
    const base = answer.answers ? intervalMs : silentMs;
    this.#after(name, mount, base * (0.75 + this.#deps.system.random.next() / 2));
  }

  #set(name: string, problem: Silence | undefined): void {
    if (this.#silent.get(name)?.message === problem?.message) return;
    if (problem === undefined) this.#silent.delete(name);
    else this.#silent.set(name, problem);
    if (!this.#stopped) this.#deps.onChange();
  }
}

/** PURE. What is mounted of a volume that comes from a server; undefined while it is not, and when it is to go. */
function mountOfServer({ phase, view: { stage } }: VolumePlan): RemoteMount | undefined {
  const { mount, record, truth } = stage;
  if (phase !== "setUp" || truth !== "mounted" || mount === undefined || record?.kind !== "filesystem")
    return undefined;
  return isLocal(mount.fsType) ? undefined : { fsType: mount.fsType, source: mount.source, point: mount.point };
}

function silence(mount: RemoteMount, { said }: ServerAnswer & { answers: false }): Silence {
  const how = said === undefined ? `has not answered within ${deadlineMs / 1000} s` : `is not to be had: ${said}`;
  const message = `the server of ${describeRemote(mount)} ${how}. ${outlook(said)}`;
  const on = { kind: "Mount", name: mount.point };
  return { reason: "ServerUnreachable", message, on, ...(said !== undefined && { said }) };
}

/** PURE. What comes of it. @param said as strerror(3) has it in English */
function outlook(said: string | undefined): string {
  switch (said) {
    case "Stale file handle": // ESTALE
      return "What uses it fails, also when the server is back: take the node out of the set and back in";
    case "Transport endpoint is not connected": // ENOTCONN
      return "What uses it fails until its client has the server again; if the client has ended, it is mounted anew by itself";
    default:
      return "What uses it waits or fails; it goes on by itself when the server is back";
  }
}
