import { noDrivers } from "../../../hack/lib/no-drivers.ts";
import { Backoff } from "../../../src/agent/backoff/backoff.ts";
import { digestOf } from "../../../src/agent/content/salted-digest.ts";
import { desiredVolume } from "../../../src/agent/desired/desired-volume.ts";
import { OperationExecutor } from "../../../src/agent/executor/operation-executor.ts";
import { PendingOperations } from "../../../src/agent/executor/pending-operations.ts";
import { Journal } from "../../../src/agent/journal/journal.ts";
import { Loop } from "../../../src/agent/loop.ts";
import type { ServerUnresponsive } from "../../../src/agent/model/actual-volume.ts";
import type { Failure } from "../../../src/agent/model/failure.ts";
import { asVolumeName, type VolumeName } from "../../../src/agent/model/identities.ts";
import { type Observation, observationOf, type PlanSettings } from "../../../src/agent/model/plan-input.ts";
import type { Plan } from "../../../src/agent/model/volume-plan.ts";
import { Planner } from "../../../src/agent/planner/incremental/incremental-planner.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { CSIDrivers } from "../../../src/csi/ports.ts";
import type { ObjectContent } from "../../../src/plugins/api/content.ts";
import { wanted } from "../../lib/builders/plan-world.ts";
import { settle, type VirtualSystem, virtualSystem } from "../kube/virtual-system.ts";
import { FakeHost } from "./fake-host.ts";

const usual: PlanSettings = { allowedPrefixes: ["/mnt"], stateDir: "/state", hostRoot: "/", csiDir: "/csi" };
/** An intent that wants a volume on one path. */
export const at = (path: string, name = "node.volume-1") => wanted({ name, mounts: [{ path: `/mnt/${path}` }] });
export const stagingOf = (name: string) => `/state/staging/${name}`;

/** The loop, planner, executor and journal of an agent on a fake host, under a virtual clock. */
export class FakeAgent {
  readonly system: VirtualSystem = virtualSystem();
  readonly host: FakeHost;
  readonly journal: Journal;
  readonly loop: Loop;
  readonly operations: PendingOperations;
  /** Each failure, as it was told. */
  readonly failures: Failure[] = [];
  readonly memory = new Backoff(this.system);
  readonly observed = new Map<VolumeName, Observation>();
  drivers: CSIDrivers = noDrivers;
  /** All content that there is. */
  secret: ObjectContent | undefined;
  readonly unresponsive = new Map<VolumeName, ServerUnresponsive>();
  intents: readonly NodeVolumeIntent[] = [];
  plan: Plan | undefined;

  private constructor(host: FakeHost, journal: Journal, settings: PlanSettings) {
    this.host = host;
    this.journal = journal;
    const { system, observed } = this;
    this.operations = new PendingOperations({
      ...{ system, journal, evidence: host.evidence },
      onSlow: () => this.loop.trigger(),
    });
    const executor = new OperationExecutor({
      operations: this.operations,
      system,
      host,
      journal,
      settings,
      drivers: {
        driver: (name) => this.drivers.driver(name),
        names: () => this.drivers.names(),
        subscribe: (onChange) => this.drivers.subscribe(onChange),
      },
      secret: async () => new Map(),
      content: () => this.secret,
      observed: (desired, seen) => {
        const last = { at: system.clock.monotonic(), previous: this.observed.get(desired.name) };
        this.observed.set(desired.name, observationOf(desired, seen, last));
      },
      progress: () => {},
    });
    this.loop = new Loop({
      system,
      host,
      journal,
      executor,
      operations: this.operations,
      settings,
      backoff: this.memory,
      planner: new Planner(),
      gather: () => {
        const volumes = new Map(
          this.intents.map((i) => [asVolumeName(i.metadata.name), desiredVolume(i, i.metadata.name)]),
        );
        return { volumes, synced: true };
      },
      contents: () => {
        const { version = "1", data } = this.secret ?? {};
        return { known: true, version, ...(data && { digest: (salt: string) => digestOf(data, salt) }) };
      },
      unresponsive: () => this.unresponsive,
      observed,
      onOperation: (_operation, { failure }) => {
        if (failure !== undefined) this.failures.push(failure);
      },
    });
    const planned = (plan: Plan) => {
      this.plan = plan;
    };
    this.loop.follow([{ planned }]);
  }

  static async start(settings: Partial<PlanSettings> = {}): Promise<FakeAgent> {
    const system = virtualSystem();
    const host = new FakeHost();
    const journal = await Journal.open(host.journal, "boot-1", system.log);
    return new FakeAgent(host, journal, { ...usual, ...settings });
  }

  async want(...intents: readonly NodeVolumeIntent[]): Promise<void> {
    this.intents = intents;
    await this.look();
  }

  async look(): Promise<void> {
    this.loop.trigger();
    for (let i = 0; i < 20; i += 1) await settle();
  }

  get mounted(): string[] {
    return this.host.entries.map((mount) => mount.point).filter((point) => point.startsWith("/mnt/"));
  }
}

/** Something that others wait for. */
export function held(): { readonly promise: Promise<void>; release(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, release: () => resolve() };
}
