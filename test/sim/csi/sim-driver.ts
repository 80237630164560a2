import type { Answer } from "../../../src/csi/client/connection.ts";
import type { Incarnation } from "../incarnation.ts";
import type { Machine } from "../machine.ts";
import type { WorldParts } from "../world-parts.ts";
import { type DriverFault, faultName, longestLateMs } from "./faults.ts";
import { NodeSide, type NodeSideRules } from "./node-side.ts";
import { RPCFailure } from "./rpc-failure.ts";
import { type Served, served } from "./serve.ts";
import type { DriverKind, Storage } from "./storage.ts";

/** A call on its way through a driver. */
export interface Call {
  readonly method: string;
  readonly request: Uint8Array;
  /** Milliseconds that the caller waits. */
  readonly deadlineMs: number;
  /** Whose effect it is. */
  readonly incarnation: Incarnation;
  /** Called at most once, with what leaves the driver. */
  answer(answer: Answer): void;
}

interface Running {
  readonly call: Call;
  readonly served: Served;
  /** Whether its caller has been told how it ended, or has given it up. */
  over: boolean;
}

const work = { low: 1, high: 60 } as const;
/** How long a driver works on for a caller that has died: the longer, if that keeps nobody else from the volume. */
const orphanMs = { serializing: 2_000, other: 30_000 } as const;
const setsUp: readonly string[] = ["NodeStageVolume", "NodePublishVolume"];

/**
 * One CSI driver on one node, through all its runs and all boots of the machine. What it does outlives it in the
 * kernel.
 */
export class SimDriver {
  readonly kind: DriverKind;
  readonly machine: Machine;
  /** Counts its starts. 0: it has never run. */
  run = 0;
  /** Whether somebody listens on its socket. */
  up = false;
  /** Calls of each kind that it has carried out. */
  readonly done = new Map<string, number>();
  /** Whether its registration socket is there. */
  registered = false;
  readonly #parts: WorldParts;
  readonly #storage: Storage;
  readonly #rules: NodeSideRules;
  readonly #listeners = new Set<() => void>();
  readonly #running = new Set<Running>();
  readonly #planned: DriverFault[] = [];
  #held: (() => void)[] | undefined;
  #side: { readonly bootID: string; readonly side: NodeSide } | undefined;

  constructor(kind: DriverKind, machine: Machine, storage: Storage, parts: WorldParts) {
    this.kind = kind;
    this.machine = machine;
    this.#storage = storage;
    this.#parts = parts;
    this.#rules = parts.invariants.attachments;
  }

  /** What it has done to the kernel that runs now. */
  get side(): NodeSide {
    const { kernel, name: node } = this.machine;
    if (this.#side?.bootID !== kernel.bootID) {
      const side = new NodeSide({ kind: this.kind, storage: this.#storage, node, kernel, rules: this.#rules });
      this.#side = { bootID: kernel.bootID, side };
    }
    return this.#side.side;
  }

  /** Whether the node has something of the volume, or may get something of it by a call that is under way. */
  mayHold(handle: string): boolean {
    const sets = ({ served: { rpc, volume } }: Running) => volume === handle && setsUp.includes(rpc);
    return this.side.holds(handle) || [...this.#running].some(sets);
  }

  start(): void {
    if (this.up) return;
    this.run++;
    this.up = true;
    this.registered = true;
    this.#changed("starts");
  }

  /** SIGKILL. @param unregister whether its registration socket goes with it */
  stop(unregister: boolean): void {
    if (!this.up) return;
    this.up = false;
    this.registered = !unregister;
    this.#held = undefined;
    for (const running of [...this.#running]) {
      // What it had begun may have gone through.
      if (this.#parts.random.chance(0.5)) this.#carryOut(running, undefined);
      this.#running.delete(running);
      running.call.answer({ kind: "status", code: "UNAVAILABLE", text: "connection reset", spoken: false });
    }
    this.#changed(unregister ? "ends, and its registration goes" : "ends");
  }

  /** The machine has started again: nothing of the driver runs any more, and nothing of what it had begun comes. */
  rebooted(): void {
    this.#running.clear();
    this.#held = undefined;
    this.up = false;
    this.registered = false;
    this.#changed("is gone with the machine");
  }

  /** It answers nobody any more, until it is let go again. */
  hang(): void {
    this.#held ??= [];
  }

  letGo(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const goOn of held) goOn();
  }

  get hung(): boolean {
    return this.#held !== undefined;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What goes wrong with the next call that changes something. */
  plan(fault: DriverFault): void {
    this.#planned.push(fault);
  }

  /** A call arrives. */
  take(call: Call): void {
    const one = served(this.kind, this.machine.name, call.method, call.request);
    const { scheduler, random, sightings } = this.#parts;
    const running: Running = { call, served: one, over: false };
    const others = [...this.#running].filter(({ served: { volume } }) => volume !== undefined && volume === one.volume);
    const twice = others.find((other) => !other.over && other.call.incarnation === call.incarnation);
    if (twice !== undefined) {
      this.#parts.invariants.report(`L4: ${one.rpc} of ${one.volume} while ${twice.served.rpc} of it runs`);
    }
    if (others.length > 0 && this.kind.serializes) {
      sightings.add("csi answer", `${one.rpc} ABORTED`);
      call.answer({ kind: "status", code: "ABORTED", text: "an operation is pending", spoken: true });
      return;
    }
    this.#running.add(running);
    const fault = one.volume === undefined ? undefined : (this.#planned.shift() ?? this.#parts.driverFault());
    if (fault !== undefined) sightings.add("csi fault", `${one.rpc} ${faultName(fault)}`);
    const perform = () => this.#perform(running, fault);
    if (this.#held !== undefined) this.#held.push(() => scheduler.after(random.between(work.low, work.high), perform));
    else if (typeof fault === "object" && "lateMs" in fault) {
      scheduler.after(call.deadlineMs + fault.lateMs, perform);
      // Counted from where somebody may begin to clean up after it.
      call.incarnation.atEnd(() => void scheduler.after(random.below(longestLateMs), perform));
    } else scheduler.after(random.between(work.low, work.high), perform);
  }

  /** The caller waits no longer. */
  givenUp(call: Call): void {
    for (const running of this.#running) if (running.call === call) running.over = true;
  }

  /**
   * The moment at which the work is done. Who asked for it may end right before, in the middle of, or right after it.
   */
  #perform(running: Running, fault: DriverFault | undefined): void {
    if (!this.#running.has(running)) return; // ended meanwhile
    const { call, served: one } = running;
    if (one.volume === undefined || !call.incarnation.alive) {
      this.#end(running, this.#carryOut(running, fault));
      return;
    }
    let goesOn = false;
    let answered = false;
    call.incarnation.perform(`csi ${one.rpc} ${one.volume}`, () => this.#carryOut(running, fault), {
      tear: () => {
        goesOn = true;
        const ms = this.kind.serializes ? orphanMs.serializing : orphanMs.other;
        this.#parts.scheduler.after(ms, () => this.#perform(running, fault));
      },
      resolve: (answer) => {
        answered = true;
        this.#end(running, answer);
      },
      reject: (error) => {
        throw error;
      },
    });
    if (!goesOn && !answered) this.#running.delete(running);
  }

  #end(running: Running, answer: Answer): void {
    this.#running.delete(running);
    running.over = true;
    running.call.answer(answer);
  }

  #carryOut({ served: one }: Running, fault: DriverFault | undefined): Answer {
    const { sightings, trace } = this.#parts;
    const coded = typeof fault === "object" && "code" in fault ? fault : undefined;
    if (fault !== undefined) trace.add(this.#name, `FAULT ${one.rpc} ${one.volume}: ${faultName(fault)}`);
    let answer: Answer = { kind: "reply", bytes: new Uint8Array() };
    if (fault !== "false" && coded?.carriedOut !== false) {
      try {
        const bytes = this.machine.kernel.as("driver", () => one.apply(this.side));
        answer = { kind: "reply", bytes };
        this.done.set(one.rpc, (this.done.get(one.rpc) ?? 0) + 1);
      } catch (error) {
        if (!(error instanceof RPCFailure)) throw error;
        trace.add(this.#name, `${one.rpc} ${one.volume}: ${error.code}`);
        answer = { kind: "status", code: error.code, text: error.message, spoken: true };
      }
    }
    if (one.volume !== undefined) {
      sightings.add("csi answer", `${one.rpc} ${answer.kind === "status" ? answer.code : "OK"}`);
    }
    if (coded !== undefined) return { kind: "status", code: coded.code, text: "planned fault", spoken: true };
    if (fault === "lost") return { kind: "status", code: "UNAVAILABLE", text: "connection reset", spoken: false };
    return answer;
  }

  get #name(): string {
    return `${this.kind.name} ${this.machine.name}`;
  }

  #changed(what: string): void {
    this.#parts.trace.add(this.#name, what);
    for (const listener of [...this.#listeners]) listener();
  }
}
