import { resource } from "../../api/names.ts";
import type { NodeVolumeState } from "../../api/types.gen.ts";
import { createObjectStore, type MutableStore, type StoreState } from "../../kube/watch/object-store.ts";
import type { Reflector } from "../../kube/watch/reflector.ts";
import { compareResourceVersions } from "../../kube/watch/resource-version.ts";
import type { Cancel, System } from "../../ports.ts";
import { reachedBy } from "./api-reached.ts";
import { type Index, indexIn } from "./index-reads.ts";
import { IntentReads } from "./intent-reads.ts";
import type { IntentSource, IntentSourceDeps, SourceProblem } from "./intent-source.ts";
import { type IntentEntry, understand } from "./intents.ts";

/**
 * About how often each intent is read although the index tells nothing new of it, in milliseconds: what somebody with
 * all rights does to a status changes no generation. At 15,000 nodes of 60 intents that is 250 reads a second.
 */
const againMs = 60 * 60_000;
/** Milliseconds after which a request without an answer is over: the API server's --request-timeout is a minute. */
const overMs = 70_000;
/**
 * Milliseconds over which the second reads of doubted intents are spread: agents whose server went away at one time
 * doubt at one time.
 */
const spreadMs = 30_000;
/**
 * Within how long all is read after others may have written the statuses, in milliseconds: thousands of agents find
 * that out within the minutes in which they look. The controller waits for it (mendsInMs in
 * src/controller/release/decide-release.ts).
 */
const relistMs = 120_000;

/**
 * The intents of a node, by the index in its NodeVolumeState. The index only lists what to read. Contents, and above
 * all that an intent is gone, come from a quorum read of the intent itself:
 *
 * ```
 *  the state's watch ──► index ──► indexReads (pure) ──► IntentReads: GET ──► store
 *  the journal's names ───────────────┘                              └ NotFound: gone
 * ```
 * Without an index, known intents are kept and no changes are received: problem() reports it.
 */
export class IndexedIntents implements IntentSource {
  readonly store: MutableStore<IntentEntry>;
  readonly #system: System;
  readonly #nodeName: string;
  readonly #states: Reflector<NodeVolumeState>;
  readonly #onRecord: () => Iterable<string>;
  readonly #reads: IntentReads;
  /** Reads when a write can no longer be under way, by name. */
  readonly #doubts = new Map<string, Cancel>();
  #index: Index = indexIn(undefined);
  #unsubscribe: Cancel = () => {};
  #cancelAgain: Cancel = () => {};
  #cancelRelist: Cancel = () => {};
  #running = false;
  #told: SourceProblem["reason"] | undefined;

  constructor({ system, transport, nodeName, states, onRecord }: Omit<IntentSourceDeps, "by" | "onRestart">) {
    const log = system.log.child({ resource: resource.intents.plural });
    this.#system = system;
    this.#nodeName = nodeName;
    this.#states = states;
    this.#onRecord = onRecord;
    this.store = createObjectStore<IntentEntry>({ clock: system.clock, log });
    this.#reads = new IntentReads({ system, transport, nodeName, store: this.store, onRead: () => this.#tell() });
  }

  /** The watch of the state is its owner's to start. */
  start(): void {
    if (this.#running) return;
    this.#running = true;
    const look = () => this.#look();
    const onState = ({ connected }: StoreState) => {
      if (connected) this.#reads.resetBackoff();
      look();
    };
    const onUpdate = (before: NodeVolumeState, after: NodeVolumeState) => {
      if (isOtherHistory(before, after)) this.#readAll();
      look();
    };
    this.#unsubscribe = this.#states.store.subscribe({ onAdd: look, onUpdate, onDelete: look, onState });
    this.#readAgainLater();
    look();
  }

  stop(): void {
    this.#running = false;
    this.#unsubscribe();
    this.#cancelAgain();
    this.#cancelRelist();
    for (const cancel of this.#doubts.values()) cancel();
    this.#reads.stop();
  }

  problem(): SourceProblem | undefined {
    return this.#states.store.state().synced && "problem" in this.#index ? this.#index.problem : undefined;
  }

  unread(): string | undefined {
    return this.#reads.trouble;
  }

  notSynced(): string | undefined {
    if (this.store.state().synced) return undefined;
    const why = this.#states.notSynced() ?? this.problem()?.message;
    if (why !== undefined) return why;
    const { left, trouble } = this.#reads;
    return `${resource.intents.plural}: ${left} of them were not read yet${trouble === undefined ? "" : `: ${trouble}`}`;
  }

  /** Of an intent that is not known this tells nothing: it may be the late answer of a write to one that is gone. */
  upsertIfNewer(raw: unknown): void {
    const entry = understand(raw, (name) => this.store.get(name));
    if (entry !== undefined && this.store.get(entry.metadata.name) !== undefined) this.store.upsertIfNewer(entry);
  }

  onReached(told: () => void): Cancel {
    return reachedBy(this.#states, told);
  }

  /** Read now, as it mostly was or was not applied, and again when it can no longer be: nothing else would show it. */
  doubt(name: string): void {
    if (!this.#running) return;
    this.#reads.again(name);
    this.#doubts.get(name)?.();
    const cancel = this.#system.timers.after(overMs + this.#system.random.next() * spreadMs, () => {
      this.#doubts.delete(name);
      this.#reads.again(name);
    });
    this.#doubts.set(name, cancel);
  }

  relist(): void {
    if (!this.#running) return;
    this.#cancelRelist();
    this.#cancelRelist = this.#system.timers.after(this.#system.random.next() * relistMs, () => this.#readAll());
  }

  #look(): void {
    this.#index = indexIn(this.#states.store.get(this.#nodeName));
    const problem = this.problem();
    if (problem !== undefined && problem.reason !== this.#told) {
      this.#system.log.warn("changes of intents are not received", { reason: problem.reason, error: problem.message });
    }
    this.#told = problem?.reason;
    if (this.#states.store.state().synced && "entries" in this.#index) {
      this.#reads.follow(this.#index.entries, new Set(this.#onRecord()));
    }
    this.#tell();
  }

  /** Changes arrive if the index does, and what it names can be read; all is known once all of that was read. */
  #tell(): void {
    const { connected, synced } = this.#states.store.state();
    const { left, trouble } = this.#reads;
    this.store.setConnected(connected && this.problem() === undefined && trouble === undefined);
    if (synced && left === 0 && "entries" in this.#index) this.store.setSynced();
  }

  #readAgainLater(): void {
    const ms = againMs * (0.75 + this.#system.random.next() / 2);
    this.#cancelAgain = this.#system.timers.after(ms, () => {
      this.#readAll();
      this.#readAgainLater();
    });
  }

  #readAll(): void {
    this.#reads.all(new Set(this.#onRecord()));
  }
}

/** After etcd was restored from a backup everything may be another, with the same generation. */
function isOtherHistory({ metadata: before }: NodeVolumeState, { metadata: after }: NodeVolumeState): boolean {
  return (
    before.uid !== after.uid || compareResourceVersions(after.resourceVersion ?? "", before.resourceVersion ?? "") < 0
  );
}
