import { messageOf } from "../../errors.ts";
import type { SocketFile, Sockets } from "../../host/ports/sockets.ts";
import type { Cancel, Logger, System } from "../../ports.ts";
import { retryMs } from "../client/retry.ts";
import type { CSIDrivers } from "../ports.ts";
import { registrationSocket } from "../server/socket-paths.ts";
import { FollowedSockets } from "./followed-sockets.ts";
import { NameClaims } from "./name-claims.ts";
import { type Attempt, type RegisterDeps, type Registered, register } from "./register.ts";
import { answers } from "./registration-client.ts";
import { DriverNames } from "./registry-names.ts";

/** Dependencies of finding CSI drivers on the node (behaviour 115). */
export interface DriverRegistryDeps extends RegisterDeps {
  readonly system: System;
  readonly sockets: Sockets;
  /** kubelet's plugins_registry, as this process sees it. */
  readonly directory: string;
}

/** Failures for which a driver stays whose registration socket was replaced: the new one may not be listened on yet. */
const patience = 5;

const goneSocket = "its registration socket is gone";

/** One path of the registration directory. */
interface Entry {
  readonly path: string;
  /** Of the file that has the path now. */
  identity: string;
  /** Counts attempts to register: an answer to an earlier one is too late. */
  attempt: number;
  failures: number;
  /** The failure that was logged last: each is logged once. */
  told: string;
  retry: Cancel;
  driver: Registered | undefined;
}

/** The drivers that register themselves in a directory, as kubelet finds them (behaviours 115 and 116). */
export class DriverRegistry {
  readonly #deps: DriverRegistryDeps;
  readonly #log: Logger;
  readonly #followed: FollowedSockets;
  readonly #names = new DriverNames();
  readonly #claims = new NameClaims<Entry>();
  readonly #entries = new Map<string, Entry>();
  #stopped = false;

  constructor(deps: DriverRegistryDeps) {
    this.#deps = deps;
    this.#log = deps.system.log;
    this.#followed = new FollowedSockets({ ...deps, log: this.#log, onSeen: (seen) => this.#take(seen) });
  }

  /** Begins to look, and goes on until `stop`. */
  start(): this {
    this.#followed.look();
    return this;
  }

  get drivers(): CSIDrivers {
    return this.#names;
  }

  /** What stands in the way of sockets whose driver is not registered: for whoever waits for one. */
  obstacles(): readonly { readonly socket: string; readonly why: string }[] {
    return [...this.#entries.values()].flatMap(({ path, told }) => (told === "" ? [] : [{ socket: path, why: told }]));
  }

  /** Nobody is told of anything any more; calls that are under way end by themselves. */
  stop(): void {
    this.#stopped = true;
    this.#followed.stop();
    for (const entry of this.#entries.values()) entry.retry();
    this.#entries.clear();
    this.#names.close();
  }

  #take(all: readonly SocketFile[]): void {
    const own = registrationSocket(this.#deps.directory);
    const seen = all.filter(({ path }) => path !== own);
    const there = new Set(seen.map(({ path }) => path));
    for (const path of [...this.#entries.keys()]) if (!there.has(path)) this.#drop(path);
    for (const socket of seen) if (this.#entries.get(socket.path)?.identity !== socket.identity) this.#begin(socket);
  }

  #begin({ path, identity }: SocketFile): void {
    const known = this.#entries.get(path);
    const entry: Entry = known ?? {
      path,
      identity,
      attempt: 0,
      failures: 0,
      told: "",
      retry: () => {},
      driver: undefined,
    };
    this.#entries.set(path, entry);
    entry.identity = identity;
    entry.failures = 0;
    this.#try(entry);
  }

  #drop(path: string): void {
    const entry = this.#entries.get(path);
    if (entry === undefined) return;
    this.#entries.delete(path);
    entry.attempt += 1;
    entry.retry();
    this.#claims.forget(entry);
    this.#release(entry, goneSocket);
  }

  #try(entry: Entry): void {
    entry.retry();
    entry.attempt += 1;
    const { attempt } = entry;
    const wanted = () => entry.attempt === attempt && !this.#stopped;
    const input = {
      socket: entry.path,
      wanted,
      claim: (name: string) => this.#claim(entry, name, wanted),
      onReturn: (name: string) => this.#names.tell(name),
    };
    register(this.#deps, input).then(
      (outcome) => this.#ended(entry, outcome, wanted()),
      (error: unknown) => this.#ended(entry, { kind: "failed", why: messageOf(error) }, wanted()),
    );
  }

  #ended(entry: Entry, outcome: Attempt, wanted: boolean): void {
    if (!wanted) {
      if (outcome.kind === "registered") outcome.driver.close();
      return;
    }
    switch (outcome.kind) {
      case "registered":
        this.#registered(entry, outcome.driver);
        break;
      case "other":
        this.#release(entry, "its socket is another plugin's now");
        this.#log.debug("not a CSI driver", { socket: entry.path, type: outcome.type });
        break;
      case "refused":
      case "failed":
        this.#failed(entry, outcome);
    }
  }

  #registered(entry: Entry, driver: Registered): void {
    const { name, endpoint } = driver;
    const before = entry.driver;
    entry.driver = driver;
    entry.failures = 0;
    entry.told = "";
    if (before !== undefined && before.name !== name)
      this.#forget(before, "another driver has its registration socket");
    this.#log.info(before?.name === name ? "CSI driver replaced" : "CSI driver registered", {
      driver: name,
      endpoint,
      socket: entry.path,
    });
    this.#names.put(driver);
    this.#claims.keepOnly(entry, name);
    this.#wake();
  }

  #failed(entry: Entry, { kind, why }: { readonly kind: "refused" | "failed"; readonly why: string }): void {
    entry.failures += 1;
    if (kind === "refused" || entry.failures > patience || entry.driver === undefined) this.#release(entry, why);
    const { timers, random } = this.#deps.system;
    const waitMs = retryMs(entry.failures, random);
    entry.retry = timers.after(waitMs, () => this.#try(entry));
    if (entry.told === why) return;
    entry.told = why;
    this.#log.warn(kind === "refused" ? "CSI driver refused" : "CSI driver not registered", {
      socket: entry.path,
      why,
    });
  }

  /** @returns why `entry` cannot have the name */
  async #claim(entry: Entry, name: string, wanted: () => boolean): Promise<string | undefined> {
    if (!wanted()) return goneSocket;
    const holder = this.#claims.take(name, entry);
    if (holder === undefined) return undefined;
    // A registrar that was killed leaves its socket behind: who has the name is who answers.
    if (await answers(this.#deps.dialer, holder.path))
      return `${holder.path} has registered this name, and still answers`;
    if (!wanted()) return goneSocket;
    if (this.#claims.holds(name, holder)) this.#drop(holder.path);
    this.#followed.look(); // its file is still there, and may come to life again
    const other = this.#claims.take(name, entry);
    return other && `${other.path} registers this name`;
  }

  /** Ends what an entry has: its driver, and its names. */
  #release(entry: Entry, why: string): void {
    const { driver } = entry;
    entry.driver = undefined;
    this.#claims.keepOnly(entry, undefined);
    if (driver !== undefined) this.#forget(driver, why);
    this.#wake();
  }

  #forget(driver: Registered, why: string): void {
    this.#log.info("CSI driver gone", { driver: driver.name, endpoint: driver.endpoint, why });
    this.#names.remove(driver);
  }

  /** Tries those again that were refused a name which is free now. */
  #wake(): void {
    for (const entry of this.#claims.freed()) {
      if (this.#entries.get(entry.path) === entry && entry.driver === undefined) this.#try(entry);
    }
  }
}
