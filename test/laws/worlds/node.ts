import { noDrivers } from "../../../hack/lib/no-drivers.ts";
import { Backoff } from "../../../src/agent/backoff/backoff.ts";
import { volumeKey } from "../../../src/agent/desired/volume-key.ts";
import { OperationExecutor } from "../../../src/agent/executor/operation-executor.ts";
import { PendingOperations } from "../../../src/agent/executor/pending-operations.ts";
import { Journal } from "../../../src/agent/journal/journal.ts";
import { Loop } from "../../../src/agent/loop.ts";
import type { Desired } from "../../../src/agent/model/desired.ts";
import type { VolumeName } from "../../../src/agent/model/identities.ts";
import type { Operation } from "../../../src/agent/model/operation.ts";
import type { Observation } from "../../../src/agent/model/plan-input.ts";
import type { Plan } from "../../../src/agent/model/volume-plan.ts";
import type { VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import type { Devices, HostPorts } from "../../../src/host/ports/host-ports.ts";
import type { ObjectContent } from "../../../src/plugins/api/content.ts";
import { Faults } from "../../sim/faults.ts";
import { simHost } from "../../sim/host/sim-host.ts";
import { Incarnation } from "../../sim/incarnation.ts";
import type { AgentPlace } from "../../sim/kernel/agent-namespace.ts";
import type { Namespace } from "../../sim/kernel/mount.ts";
import { layout, Machine } from "../../sim/machine.ts";
import { People } from "../../sim/people.ts";
import { SeededRandom } from "../../sim/random.ts";
import { Scheduler } from "../../sim/scheduler.ts";
import { Sightings } from "../../sim/sightings.ts";
import { Trace } from "../../sim/trace.ts";
import { ComparedPlanner } from "./compared-planner.ts";
import { NodeRules } from "./node-rules.ts";
import { volumeName } from "./volumes.ts";

/** More than any story needs. */
const mostOperations = 400;

/** One run of the agent. */
interface Running {
  readonly incarnation: Incarnation;
  readonly namespace: Namespace;
  loop?: Loop;
  journal?: Journal;
}

/**
 * The real planner, loop, executor, journal and plugins on a simulated machine, with the intents in our hand: no API
 * server, so that a story of random events is cheap. What the agent does to the kernel is watched by NodeRules.
 */
export class LawNode {
  readonly scheduler = new Scheduler();
  readonly trace = new Trace(() => this.scheduler.now);
  readonly rules: NodeRules;
  readonly machine: Machine;
  readonly people: People;
  readonly desired = new Map<VolumeName, Desired>();
  /** What the agent carried out since it was counted last. */
  readonly operations: Operation[] = [];
  synced = true;
  tableReadable = true;
  contentVersion = 1;
  plan: Plan | undefined;
  readonly #random: SeededRandom;
  readonly #faults: Faults;
  #running: Running | undefined;
  #runs = 0;

  constructor(seed: number, place: AgentPlace) {
    this.#random = new SeededRandom(seed, "law");
    this.#faults = new Faults(undefined);
    this.rules = new NodeRules(this);
    this.machine = new Machine({ name: "node", scheduler: this.scheduler, listener: this.rules, place });
    this.people = new People(this.machine, this.trace, () => true);
  }

  /** The mount namespace that the agent is in. */
  get namespace(): Namespace | undefined {
    return this.#running?.namespace;
  }

  get records(): ReadonlyMap<VolumeName, VolumeRecord> {
    return this.#running?.journal?.records ?? new Map();
  }

  /** Whether an operation is under way. */
  get busy(): boolean {
    return (this.#running?.loop?.running.size ?? 1) > 0;
  }

  /** Whether an operation of the volume is under way. */
  isRunning(volume: VolumeName): boolean {
    return this.#running?.loop?.running.has(volume) === true;
  }

  async start(): Promise<void> {
    const incarnation = new Incarnation({
      name: `agent#${++this.#runs}`,
      scheduler: this.scheduler,
      random: this.#random,
      faults: this.#faults,
      trace: this.trace,
      sightings: new Sightings(),
      onLog: () => {},
      onCrash: () => {},
    });
    const { namespace, process } = this.machine.startAgentProcess();
    const running: Running = { incarnation, namespace };
    this.#running = running;
    incarnation.atEnd(() => this.machine.kernel.processes.end(process));
    const host = this.#watched(
      simHost({
        machine: this.machine,
        namespace,
        process,
        incarnation,
        onCall: () => {},
        onTable: () => {},
        onFormat: () => {},
        volumeAt: (path) => this.#volumeAt(path),
        schedule: (ms, action) => void this.scheduler.after(ms, action),
      }),
    );
    void this.#wire(running, host);
    await this.run(100);
  }

  /** SIGKILL. */
  kill(): void {
    this.#running?.incarnation.end();
    this.#running = undefined;
    this.rules.killed();
  }

  async reboot(): Promise<void> {
    this.kill();
    this.machine.boot();
    await this.start();
  }

  trigger(): void {
    this.#running?.loop?.trigger();
  }

  /** Lets virtual time pass. @throws Error if the agent broke a law, or goes round in circles */
  async run(ms: number): Promise<void> {
    await this.scheduler.run(this.scheduler.now + ms, () => {
      this.rules.check();
      if (this.operations.length > mostOperations) throw new Error(`no end of operations\n${this.trace.tail(60)}`);
      return false;
    });
    this.rules.check();
  }

  async #wire(running: Running, host: HostPorts): Promise<void> {
    const { system } = running.incarnation;
    const { hostRoot } = this.machine;
    const settings = { allowedPrefixes: [layout.prefix], stateDir: layout.stateDir, hostRoot, csiDir: layout.csiDir };
    const observed = new Map<VolumeName, Observation>();
    const content = (): ObjectContent => {
      const text = `version ${this.contentVersion}`;
      return { version: `uid/${this.contentVersion}`, data: new Map([["file", new TextEncoder().encode(text)]]) };
    };
    const journal = await Journal.open(host.journal, await host.evidence.bootID(), system.log);
    const operations = new PendingOperations({ system, journal, evidence: host.evidence });
    const executor = new OperationExecutor({
      operations,
      system,
      host,
      journal,
      settings,
      drivers: noDrivers,
      secret: async () => new Map(),
      content,
      observed: ({ name, uid, generation }, seen) =>
        void observed.set(name, { uid, generation, at: system.clock.monotonic(), ...seen }),
      progress: () => {},
    });
    const loop = new Loop({
      system,
      host,
      journal,
      executor,
      operations,
      settings,
      backoff: new Backoff(system),
      planner: new ComparedPlanner((what) => this.rules.report(what)),
      gather: () => ({ volumes: new Map(this.desired), synced: this.synced }),
      contents: () => ({ known: true, version: content().version }),
      observed,
      onOperation: (operation, { failure }) => {
        this.trace.add("agent", `${JSON.stringify(operation)} ${failure?.reason ?? "done"}`);
        this.rules.ended(operation.volume);
        if (failure === undefined) this.operations.push(operation);
      },
    });
    loop.follow([{ planned: (plan) => this.#planned(plan) }]);
    running.journal = journal;
    running.loop = loop;
    host.mountTable.watch(() => loop.trigger());
    host.nodeTable?.watch(() => loop.trigger());
    await host.directories.emptyTrash();
    loop.trigger();
  }

  /** As the controller: an intent that is deleted is let go when it is released, or left to nobody. */
  #planned(plan: Plan): void {
    this.plan = plan;
    for (const { name, phase, desired } of plan.volumes.values()) {
      const done = phase === "released" || phase === "retained" || (phase === "observe" && desired?.deleting === true);
      if (!done || desired?.deleting !== true || this.desired.get(name) !== desired) continue;
      if (phase !== "released") this.rules.vanish(name, this.isRunning(name));
      this.desired.delete(name);
      this.trigger();
    }
  }

  /** The host, with a table that can be hidden, and each order to format told of before anybody checks it again. */
  #watched(host: HostPorts): HostPorts {
    const { mountTable } = host;
    const read = () => (this.tableReadable ? mountTable.read() : Promise.reject(new Error("EIO")));
    return {
      ...host,
      mountTable: { read, watch: (onChange) => mountTable.watch(onChange) },
      effects: (operation) => {
        const { devices, ...others } = host.effects(operation);
        const format: Devices["format"] = (source, ...how) => {
          const disk = this.machine.disks.get(source.path);
          if (disk !== undefined) this.rules.formatted(disk);
          return devices.format(source, ...how);
        };
        return {
          ...others,
          devices: {
            probe: (source) => devices.probe(source),
            attributes: (n) => devices.attributes(n),
            claim: (path, n) => devices.claim(path, n),
            openers: (n) => devices.openers(n),
            disks: (root) => devices.disks(root),
            wipe: (...what) => devices.wipe(...what),
            mend: (...what) => devices.mend(...what),
            format,
            grow: (path, fsType, point) => devices.grow(path, fsType, point),
          },
        };
      },
    };
  }

  #volumeAt(path: string): string | undefined {
    const staged = [0, 1, 2].map(volumeName).find((name) => path.endsWith(`/${volumeKey(name)}`));
    return staged ?? [...this.records.values()].find(({ targets }) => targets.some((t) => t.path === path))?.name;
  }
}
