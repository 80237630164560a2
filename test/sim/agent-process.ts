import { Registry } from "prom-client";
import { type Agent, startAgent } from "../../src/agent/start.ts";
import type { PodVolumes } from "../../src/csi/server/ports.ts";
import { messageOf } from "../../src/errors.ts";
import type { MountTable } from "../../src/host/mount-table/mount-table.ts";
import { SimTransport } from "./api/sim-transport.ts";
import type { SimDriver } from "./csi/sim-driver.ts";
import { SimDrivers } from "./csi/sim-drivers.ts";
import { simHost } from "./host/sim-host.ts";
import { Incarnation } from "./incarnation.ts";
import { KnowledgeRules } from "./invariants/knowledge-rules.ts";
import { OperationRules } from "./invariants/operation-rules.ts";
import { proxyRules } from "./invariants/proxy-rules.ts";
import type { Namespace } from "./kernel/mount.ts";
import type { Process } from "./kernel/processes.ts";
import { layout, type Machine } from "./machine.ts";
import type { WorldParts } from "./world-parts.ts";

/** How many of the newest tables a status may speak from: it may be written while newer ones are being read. */
const tablesKept = 4;
const restart = { low: 200, high: 3000 } as const;
const boot = { low: 5_000, high: 20_000 } as const;

/** The agent of one node, through all its runs: what starts it again when it ended, as kubelet does. */
export class AgentProcess {
  readonly #machine: Machine;
  readonly #parts: WorldParts;
  readonly #drivers: readonly SimDriver[];
  #running: { incarnation: Incarnation; namespace: Namespace; process: Process; agent?: Agent } | undefined;
  #runs = 0;
  #wanted = false;

  constructor(machine: Machine, parts: WorldParts, drivers: readonly SimDriver[]) {
    this.#machine = machine;
    this.#parts = parts;
    this.#drivers = drivers;
  }

  /** The mount namespace that it is in now. */
  get namespace(): Namespace | undefined {
    return this.#running?.namespace;
  }

  /** Whether an agent runs that has read its intents completely. */
  get ready(): boolean {
    return this.#running?.agent?.ready() === true;
  }

  /** What kubelet reaches of the agent that runs; another one for each run. */
  get podVolumes(): PodVolumes | undefined {
    return this.#running?.agent?.podVolumes;
  }

  start(): void {
    this.#wanted = true;
    if (this.#running !== undefined) return;
    const { scheduler, random, faults, trace, invariants } = this.#parts;
    const { journal } = invariants;
    const knowledge = new KnowledgeRules(invariants.report, (path) => this.#machine.isNotPublished(path));
    const incarnation = new Incarnation({
      name: `${this.#machine.name}#${++this.#runs}`,
      scheduler,
      random,
      faults,
      trace,
      sightings: this.#parts.sightings,
      skewMs: () => this.#parts.skewMs(this.#machine.name),
      tableFault: () => this.#parts.tableFault(),
      hostFault: () => this.#parts.hostFault(),
      onEffect: (what) => knowledge.effect(what),
      onLog: (line) => invariants.secrets.check("a log line", line),
      onCrash: (ending) => (ending === "reboot" ? this.#boot(false) : this.#ended()),
    });
    const { namespace, process } = this.#machine.startAgentProcess();
    this.#running = { incarnation, namespace, process };
    const operations = new OperationRules(invariants.report, (path) => journal.recordOf(this.#machine, path)?.name);
    const tables: MountTable[] = [];
    const host = simHost({
      machine: this.#machine,
      namespace,
      process,
      incarnation,
      onCall: (call) => operations.called(call),
      onTable: () => {
        tables.push(this.#machine.table(namespace));
        knowledge.tableRead();
        if (tables.length > tablesKept) tables.shift();
      },
      onFormat: (disk) => invariants.mounts.formatted(disk),
      onCutOff: () => this.#parts.sightings.add("mkfs", "cut off"),
      onJournal: (text) => invariants.secrets.check("the journal", () => text),
      volumeAt: (path, identity) => journal.recordOf(this.#machine, path, identity)?.name,
      losesWake: () => this.#parts.losesWake(),
      schedule: (ms, action) => void scheduler.after(ms, action),
    });
    const transport = new SimTransport({
      server: this.#parts.server,
      network: this.#parts.network,
      incarnation,
      scheduler,
      random,
      sightings: this.#parts.sightings,
      onInitialList: (path) => knowledge.listed(path),
      onLine: (path, line) => knowledge.shown(path, line),
      onRead: (path) => knowledge.read(path),
      onRequest: proxyRules(this.#machine.name, invariants.report),
      onWrite: (request) => {
        invariants.secrets.check(request.path, () => JSON.stringify(request.body ?? null));
        invariants.statuses.sent(request, tables);
      },
    });
    const { hostRoot } = this.#machine;
    const { stateDir, csiDir, kubeletDir } = layout;
    const settings = { allowedPrefixes: [layout.prefix], stateDir, hostRoot, csiDir, kubeletDir };
    const deps = {
      system: incarnation.system,
      transport,
      host,
      drivers: new SimDrivers(this.#drivers, incarnation),
      nodeName: this.#machine.name,
      version: "sim",
      intents: this.#parts.intents,
    };
    startAgent({ ...deps, settings, registry: new Registry() }).then(
      (agent) => {
        if (this.#running?.incarnation === incarnation) this.#running.agent = agent;
      },
      (error: unknown) => {
        trace.add(incarnation.name, `did not start: ${messageOf(error)}`);
        incarnation.end();
        this.#ended();
      },
    );
  }

  /** SIGKILL. */
  kill(): void {
    if (this.#running === undefined) return;
    this.#parts.trace.add(this.#running.incarnation.name, "killed");
    this.#running.incarnation.end();
    this.#ended();
  }

  /** SIGTERM, as an upgrade does it; it is started again. */
  upgrade(): void {
    const running = this.#running;
    this.#parts.trace.add(this.#machine.name, "is upgraded");
    void running?.agent?.stop().then(() => {
      if (this.#running === running) this.kill();
    });
  }

  /** Ends it, and starts none again until start(). */
  stop(): void {
    this.#wanted = false;
    this.kill();
  }

  /** The machine starts again, and the agent with it. */
  reboot(): void {
    this.#boot(true);
  }

  /** The machine is without power, and nobody there does anything, until powerOn(). Its Node object stays as it is. */
  powerOff(): void {
    this.stop();
    this.#machine.boot();
    for (const driver of this.#drivers) driver.rebooted();
    this.#parts.trace.add(this.#machine.name, "loses its power");
  }

  powerOn(): void {
    this.#wanted = true;
    this.#boot(true);
  }

  #boot(planned: boolean): void {
    this.#running?.incarnation.end();
    this.#running = undefined;
    this.#machine.boot();
    this.#parts.trace.add(this.#machine.name, `boots as ${this.#machine.kernel.bootID}`);
    this.#parts.onBoot(this.#machine, planned);
    this.#again(boot);
  }

  /** With the process of a container its children may be killed, or not. */
  #ended(): void {
    const running = this.#running;
    if (running === undefined) return;
    this.#running = undefined;
    const { processes } = this.#machine.kernel;
    if (this.#parts.random.chance(0.5)) {
      for (const process of [...processes.all()]) {
        if (process.namespace === running.namespace && process.command === "nodevolume-child") processes.end(process);
      }
    }
    processes.end(running.process);
    this.#again(restart);
  }

  #again({ low, high }: { low: number; high: number }): void {
    if (!this.#wanted) return;
    this.#parts.scheduler.after(this.#parts.random.between(low, high), () => {
      if (this.#wanted) this.start();
    });
  }
}
