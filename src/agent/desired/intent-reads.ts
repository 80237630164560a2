import { resource } from "../../api/names.ts";
import type { IndexedIntent, NodeVolumeIntent } from "../../api/types.gen.ts";
import { messageOf } from "../../errors.ts";
import { createKubeClient, type KubeClient } from "../../kube/client/client.ts";
import type { Transport } from "../../kube/client/transport.ts";
import { createKeyedQueue, type KeyedQueue } from "../../kube/keyed-queue.ts";
import type { MutableStore } from "../../kube/watch/object-store.ts";
import type { System } from "../../ports.ts";
import { indexReads, markOf } from "./index-reads.ts";
import { type IntentEntry, understand } from "./intents.ts";

/** Dependencies of reading single intents, where the agent follows an index instead of a watch of all intents. */
export interface IntentReadsDeps {
  readonly system: System;
  readonly transport: Transport;
  readonly nodeName: string;
  /** Holds what was read, and nothing that a read did not find. */
  readonly store: MutableStore<IntentEntry>;
  /** A read has ended, or failed. */
  onRead(): void;
}

/** Reads that are under way at the same time: an agent that starts with hundreds of volumes is one of thousands. */
const readsAtOnce = 8;

/** Something that is to be read, because of what the index says of it. */
interface Asked {
  readonly mark: string;
}

/** Reads of single intents, one at a time for each, tried again until there is an answer. */
export class IntentReads {
  readonly #deps: IntentReadsDeps;
  readonly #client: KubeClient;
  readonly #queue: KeyedQueue;
  /** By name, what the index said last that is known by a read, or was not news. */
  readonly #answered = new Map<string, string>();
  /** What is to be read, by name. */
  readonly #pending = new Map<string, Asked>();
  #index: ReadonlyMap<string, IndexedIntent> = new Map();
  /** Why a read failed, by name, as long as it did not succeed since. */
  readonly #troubles = new Map<string, string>();
  #stopped = false;

  constructor(deps: IntentReadsDeps) {
    const { system, transport } = deps;
    this.#deps = deps;
    this.#client = createKubeClient({ transport, fieldManager: "" });
    const run = (name: string) => this.#read(name);
    this.#queue = createKeyedQueue({ system, name: "intents", concurrency: readsAtOnce, patient: true, run });
  }

  /** How many are to be read. */
  get left(): number {
    return this.#pending.size;
  }

  /** A read that failed and did not succeed since, and why. */
  get trouble(): string | undefined {
    for (const [name, message] of this.#troubles) return `${name}: ${message}`;
    return undefined;
  }

  /** Asks for what is news in an index, and for what is on record and not in it. */
  follow(index: ReadonlyMap<string, IndexedIntent>, onRecord: ReadonlySet<string>): void {
    this.#index = index;
    const stored = new Map([...this.#deps.store.list()].map((entry) => [entry.metadata.name, entry]));
    const { due, known } = indexReads(index, stored, onRecord, this.#answered);
    for (const [name, mark] of known) this.#answered.set(name, mark);
    for (const [name, mark] of due) if (this.#pending.get(name)?.mark !== mark) this.#ask(name, mark);
    for (const name of this.#answered.keys()) {
      if (!index.has(name) && !stored.has(name) && !onRecord.has(name)) this.#answered.delete(name);
    }
  }

  /** Asks for it, whatever is known of it or on its way. */
  again(name: string): void {
    this.#ask(name, markOf(this.#index.get(name)));
  }

  /** Asks for all of them: in the index, known, or on record. */
  all(onRecord: ReadonlySet<string>): void {
    const known = Array.from(this.#deps.store.list(), ({ metadata }) => metadata.name);
    for (const name of new Set([...this.#index.keys(), ...known, ...onRecord])) this.again(name);
  }

  /** What failed because the server was away need not wait any longer. */
  resetBackoff(): void {
    this.#queue.resetBackoff();
    for (const name of this.#pending.keys()) this.#queue.add(name);
  }

  stop(): void {
    this.#stopped = true;
    void this.#queue.stop();
  }

  #ask(name: string, mark: string): void {
    this.#pending.set(name, { mark });
    this.#queue.add(name);
  }

  async #read(name: string): Promise<undefined> {
    const asked = this.#pending.get(name);
    if (asked === undefined) return;
    const { store, onRead } = this.#deps;
    const before = store.get(name);
    const raw = await this.#get(name);
    if (this.#stopped) return;
    const entry = raw && understand(raw, () => store.get(name));
    if (store.get(name) === before) {
      if (entry === undefined) store.gone(name);
      else store.take(entry);
    } else if (entry === undefined) {
      // A status of ours was written meanwhile, before or after this answer was given.
      this.#queue.add(name);
      return;
    } else store.upsertIfNewer(entry);
    // One that the index names and that is not there is asked for again with the next look.
    if (entry !== undefined || !this.#index.has(name)) this.#answered.set(name, asked.mark);
    if (this.#pending.get(name) === asked) this.#pending.delete(name);
    onRead();
  }

  /** undefined if there is none of this node. An index names others' only if somebody has made it so by hand. */
  async #get(name: string): Promise<NodeVolumeIntent | undefined> {
    try {
      const raw = await this.#client.get<NodeVolumeIntent>(resource.intents, { name });
      this.#troubles.delete(name);
      return raw?.spec?.nodeName === this.#deps.nodeName ? raw : undefined;
    } catch (error) {
      this.#troubles.set(name, messageOf(error));
      if (!this.#stopped) this.#deps.onRead();
      throw error;
    }
  }
}
