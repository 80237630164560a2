import { volumeKey } from "../../src/agent/desired/volume-key.ts";
import { resource } from "../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../src/api/types.gen.ts";
import { TransportError } from "../../src/kube/client/transport.ts";
import { SimApiServer } from "./api/sim-api-server.ts";
import type { Network } from "./api/sim-transport.ts";
import { Cluster } from "./cluster.ts";
import { ControllerProcess } from "./controller-process.ts";
import { CSIWorld } from "./csi/csi-world.ts";
import { FakeController } from "./fake-controller.ts";
import { Faults } from "./faults.ts";
import { unmet } from "./invariants/convergence.ts";
import { Invariants } from "./invariants/invariants.ts";
import type { Expected } from "./invariants/settled.ts";
import { Violation } from "./invariants/violation.ts";
import type { AgentPlace } from "./kernel/agent-namespace.ts";
import { layout, type Machine } from "./machine.ts";
import { SeededRandom } from "./random.ts";
import { Scheduler } from "./scheduler.ts";
import { Sightings } from "./sightings.ts";
import { type SimNode, simNode } from "./sim-node.ts";
import { Trace } from "./trace.ts";
import { Weather } from "./weather.ts";
import { intentsBy, settleMs, usualEvents, type WorldOptions } from "./world-options.ts";
import type { WorldParts } from "./world-parts.ts";

/** Virtual milliseconds without a change after which the world is looked at as a whole. */
const quietMs = 5_000;
/** Kinds that are written without anything having changed. */
const restless = [resource.leases, resource.events, resource.states] as const;

/** A cluster in a box: an API server, nodes with kernels and agents, people, and a clock that is ours. */
export class World {
  readonly seed: number;
  readonly scheduler = new Scheduler();
  readonly trace = new Trace(() => this.scheduler.now);
  readonly sightings = new Sightings();
  readonly faults: Faults;
  readonly invariants: Invariants;
  readonly server: SimApiServer;
  readonly network: Network;
  readonly cluster: Cluster;
  readonly nodes = new Map<string, SimNode>();
  readonly csi: CSIWorld;
  readonly controllers: readonly ControllerProcess[];
  readonly random: SeededRandom;
  /** What consumers have written into volumes, by intent: it must be there as long as the volume is wanted. */
  readonly canaries = new Map<string, string>();
  /**
   * A machine has rebooted without the story knowing: what people had mounted and which programs they ran is gone, so
   * that what it says of them no longer holds. Everything else must.
   */
  uprooted = false;
  /** No agent hears what its kernel tells of paths and processes: only trying again ends a wait. */
  deaf = false;
  /** How far all clocks are from ours, in fair weather. */
  skewMs = 0;
  /** Intents that the controller may have let go because of the reboot, before the agent learned of their deletion. */
  readonly deletedOverReboot: string[] = [];
  readonly #fake: FakeController | undefined;
  readonly #parts: WorldParts;
  #violation: Violation | undefined;
  #changedAt = 0;
  readonly #mostEvents: number;
  #events = 0;

  constructor(options: WorldOptions) {
    const { seed, admission, nodes = ["a"], controllers = 0, place = "pod", crash, stormy = false } = options;
    this.seed = seed;
    this.#mostEvents = options.mostEvents ?? usualEvents;
    const { scheduler, trace } = this;
    this.csi = new CSIWorld(options, this.nodes);
    const weather = stormy ? new Weather(seed, scheduler) : undefined;
    this.random = new SeededRandom(seed, "world");
    this.faults = new Faults(crash, weather?.crashes);
    this.network = { down: 0, fault: (request) => weather?.request(request), silencedAt: -1, lagMs: 0 };
    this.invariants = new Invariants({
      report: (message) => this.#report(message),
      storage: this.csi.storage,
      nodesThatMayHold: (handle) => this.csi.nodesThatMayHold(handle),
      now: () => scheduler.now,
      server: () => this.server,
      machine: (node) => this.nodes.get(node)?.machine,
      agentNamespace: (machine) => this.nodes.get(machine.name)?.agent.namespace,
    });
    this.server = new SimApiServer({
      seed,
      scheduler,
      admission,
      onChange: (of, change, actor) => {
        trace.add("api", `${actor}: ${change.type} ${of.plural} ${change.object.metadata.name} ${change.version}`);
        if (!restless.some((kind) => kind === of)) this.#changedAt = scheduler.now;
        this.invariants.stored(of, change, actor);
        this.csi.stored(of, change);
        if (of !== resource.intents) return;
        this.sightings.intent(change.object as unknown as NodeVolumeIntent); // the collection holds nothing else
        this.#fake?.changed(change);
      },
    });
    this.cluster = new Cluster(this.server);
    this.#parts = {
      scheduler,
      random: this.random,
      trace,
      sightings: this.sightings,
      faults: this.faults,
      server: this.server,
      network: this.network,
      hostFault: () => weather?.host(),
      tableFault: () => weather?.table(),
      skewMs: (place) => weather?.skewMs(place) ?? this.skewMs,
      losesWake: () => this.deaf || weather?.losesWake() === true,
      invariants: this.invariants,
      storage: this.csi.storage,
      intents: intentsBy(options),
      driverFault: () => weather?.driver(),
      attacherFails: () => weather?.attacherFails() === true,
      onBoot: (machine, planned) => this.#booted(machine, planned),
    };
    this.sightings.add("intents", `by ${this.#parts.intents}`);
    this.#fake = controllers === 0 ? new FakeController(this.#parts) : undefined;
    this.controllers = Array.from(
      { length: controllers },
      (_, i) => new ControllerProcess(`controller-${i}`, this.#parts),
    );
    this.csi.begin(this.#parts);
    for (const name of nodes) this.addNode(name, {}, place);
    for (const controller of this.controllers) controller.start();
    weather?.begin({
      server: this.server,
      network: this.network,
      csi: this.csi,
      processes: [...[...this.nodes.values()].map(({ agent }) => agent), ...this.controllers],
    });
  }

  addNode(name: string, labels: { readonly [key: string]: string } = {}, place: AgentPlace = "pod"): void {
    const node = simNode({
      name,
      place,
      parts: this.#parts,
      drivers: this.csi.kinds,
      uprooted: () => this.uprooted,
      note: (what) => {
        this.#changedAt = this.scheduler.now;
        this.trace.add(`kernel ${name}`, what);
      },
    });
    this.nodes.set(name, node);
    this.cluster.addNode(name, node.machine.kernel.bootID, labels);
    this.#fake?.nodeAdded(name);
    this.csi.nodeAdded(node);
    node.agent.start();
  }

  /** The one node of most worlds. */
  get node(): SimNode {
    const [first] = this.nodes.values();
    if (first === undefined) throw new Error("a world without nodes");
    return first;
  }

  /** A consumer writes into a volume, by its first mount; the file must never get lost while the volume is wanted. */
  mark(intent: string): void {
    const path = this.cluster.intent(intent)?.spec.mounts[0]?.path;
    const node = this.nodes.get(this.cluster.intent(intent)?.spec.nodeName ?? "");
    if (path === undefined || node === undefined) throw new Error(`${intent} has no mount to write to`);
    const text = `written at ${this.scheduler.now}`;
    node.people.write(`${path}/canary`, text, "consumer");
    this.canaries.set(intent, text);
  }

  /** How many mounts the host has on a path. */
  mountsOn(path: string, { machine }: SimNode = this.node): number {
    return machine.kernel.table(machine.kernel.host).filter((entry) => entry.point === path).length;
  }

  stagingPath(intent: string): string {
    return `${layout.stateDir}/staging/${volumeKey(intent)}`;
  }

  /** The API server cannot be reached, by anybody but the people of the story. */
  outage(moment: "begin" | "end"): void {
    this.trace.add("api", `outage: ${moment}`);
    this.network.down += moment === "begin" ? 1 : -1;
    if (moment === "begin") this.server.breakWatches({ error: new TransportError("connection reset") });
  }

  /** Lets time pass. @throws Violation */
  sleep = (ms: number): Promise<unknown> =>
    this.scheduler.catchUp().then(() => this.#pass(this.scheduler.now + ms, () => false));

  /** @throws Violation; Error if it does not come true in time */
  async until(what: string, check: () => boolean, ms = settleMs): Promise<void> {
    await this.scheduler.catchUp();
    if ((await this.#pass(this.scheduler.now + ms, check)) || this.uprooted) return;
    throw new Error(`waited ${ms / 1000} virtual seconds for ${what}`);
  }

  /**
   * Lets time pass until nothing changes any more and everything is as the intents say, but for what is `expected` to
   * be otherwise.
   */
  async settle(expected: Expected = {}): Promise<void> {
    await this.scheduler.catchUp();
    const begin = this.scheduler.now;
    const deadline = begin + settleMs;
    for (let left: readonly string[] = ["nothing was looked at"]; ; ) {
      const quietAt = Math.max(this.#changedAt, begin) + quietMs; // what the story did last takes time to be noticed
      if (this.scheduler.now >= quietAt) {
        left = unmet(this, expected);
        if (left.length === 0) return;
      }
      const next = quietAt > this.scheduler.now ? quietAt : this.scheduler.now + quietMs;
      if (next > deadline) throw new Error(`no end after ${settleMs / 1000} virtual seconds: ${left.join("; ")}`);
      await this.#pass(next, () => false);
    }
  }

  #booted({ name, kernel }: Machine, planned: boolean): void {
    const intents = this.cluster.intents().filter(({ spec }) => spec.nodeName === name);
    const deleting = intents.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    this.uprooted ||= !planned;
    this.deletedOverReboot.push(...deleting.map(({ metadata }) => metadata.name));
    for (const volume of this.canaries.keys()) {
      const intent = this.invariants.intents.of(volume).at(-1); // it may be gone while the volume is kept
      if (intent?.spec.nodeName === name && intent.spec.source.emptyDir?.medium === "Memory") {
        this.canaries.delete(volume);
      }
    }
    this.cluster.booted(name, kernel.bootID);
    this.csi.booted(name);
    this.nodes.get(name)?.kubelet.booted();
    this.#fake?.booted(name);
  }

  /** @returns whether it was over before `until`; rejects with the first violation, as soon as it is there */
  async #pass(until: number, isOver: () => boolean): Promise<boolean> {
    const over = await this.scheduler.run(until, () => {
      if (++this.#events > this.#mostEvents) throw new Error(`more than ${this.#mostEvents} events`);
      return this.#violation !== undefined || isOver();
    });
    if (this.#violation !== undefined) throw this.#violation;
    return over;
  }

  #report(message: string): void {
    this.trace.add("VIOLATION", message);
    this.#violation ??= new Violation(message);
  }
}
