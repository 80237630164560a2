import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { noDrivers } from "../../../hack/lib/no-drivers.ts";
import { Backoff } from "../../../src/agent/backoff/backoff.ts";
import { type RetryTrigger, triggersFor } from "../../../src/agent/backoff/triggers-for.ts";
import { OperationExecutor } from "../../../src/agent/executor/operation-executor.ts";
import { PendingOperations } from "../../../src/agent/executor/pending-operations.ts";
import { Journal } from "../../../src/agent/journal/journal.ts";
import type { Desired } from "../../../src/agent/model/desired.ts";
import { asVolumeName, type VolumeName } from "../../../src/agent/model/identities.ts";
import type { Operation } from "../../../src/agent/model/operation.ts";
import {
  type ContentState,
  type Observation,
  observationOf,
  type PlanInput,
} from "../../../src/agent/model/plan-input.ts";
import { swapStates } from "../../../src/agent/model/swap-states.ts";
import type { Plan, VolumePlan } from "../../../src/agent/model/volume-plan.ts";
import type { ObjectMeta } from "../../../src/api/meta.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { CSIDrivers, Secrets } from "../../../src/csi/ports.ts";
import { type LinuxHost, linuxHost } from "../../../src/host/linux/linux-host.ts";
import { loadLibc } from "../../../src/host/linux/syscall/libc.ts";
import { isBeneath } from "../../../src/host/mount-table/mount-table.ts";
import { type MountEntry, parseMountinfo } from "../../../src/host/mount-table/mountinfo.ts";
import type { HostPorts } from "../../../src/host/ports/host-ports.ts";
import type { ObjectContent } from "../../../src/plugins/api/content.ts";
import type { System, Timers } from "../../../src/ports.ts";
import { realSystem, systemTimers } from "../../../src/system.ts";
import { keepingLog } from "../asserts/keeping-log.ts";
import { NodePods, notUnderstood, understood } from "../builders/node-pods.ts";
import { plan } from "../builders/plan-whole.ts";
import { childCommand } from "./child-command.ts";
import { placeOfNode } from "./place-of-node.ts";

/**
 * One node on the real kernel without an API server: planner, executor, journal and plugins as the agent has them, on
 * a tmpfs of its own, in the mount namespace that the test runs in.
 */
export class RealNode implements AsyncDisposable {
  readonly path: string;
  host: HostPorts;
  #linux: LinuxHost;
  readonly contents = new Map<string, ObjectContent>();
  /** What CSI drivers are registered, and Secrets for them by name. */
  drivers: CSIDrivers = noDrivers;
  readonly secrets = new Map<string, Secrets>();
  /** Milliseconds after which a call of a driver, or a child, is given up; undefined: as in the agent. */
  deadlineMs: number | undefined;
  ahead = 0; // milliseconds that have passed beyond those that really have
  readonly pods: NodePods;
  ended: PlanInput["ended"]; // clients of FUSE that were heard to end
  seLinux = false; // what the agent takes the kernel for
  readonly log: string[] = [];
  readonly lines: string[] = []; // of the log, of every level
  readonly done: string[] = []; // operations that were carried out, in order
  #journal: Journal | undefined;
  #executor:
    | {
        executor: OperationExecutor;
        operations: PendingOperations;
        host: HostPorts;
        journal: Journal;
        deadlineMs: number | undefined;
      }
    | undefined;
  readonly #backoff = new Backoff(this.#system);
  readonly #observed = new Map<VolumeName, Observation>();
  readonly #kept: Disposable[] = [];
  readonly #given: { readonly recordsPrograms?: string; readonly timers?: Timers };
  #wraps: ((host: HostPorts) => HostPorts)[] = [];
  #intents = new Map<VolumeName, Desired>();

  /**
   * @param given `recordsPrograms`: file told of each program that a child becomes (programsIn); `timers`: what ends
   *   children
   */
  constructor(given: { readonly recordsPrograms?: string; readonly timers?: Timers } = {}) {
    this.path = placeOfNode();
    this.#given = given;
    this.pods = new NodePods(`${this.path}/kubelet`, this.#system.clock);
    this.#linux = this.#hostOf(false);
    this.host = this.#linux;
  }

  #hostOf(ranBefore: boolean): LinuxHost {
    const system = { ...realSystem(keepingLog(this.lines)), timers: this.#given.timers ?? systemTimers };
    const [command, libc] = [childCommand(this.#given.recordsPrograms), loadLibc()];
    return linuxHost({ stateDir: this.stateDir, ranBefore, childCommand: command, system, libc });
  }

  /** Has the node use other ports from now on, also after a restart. */
  through(wrap: (host: HostPorts) => HostPorts): void {
    this.#wraps.push(wrap);
    this.host = wrap(this.host);
  }

  get stateDir(): string {
    return `${this.path}/state`;
  }

  /** A path that mounts are allowed on. */
  target(name: string): string {
    return `${this.path}/mnt/${name}`;
  }

  /** The kernel's mounts on targets and staging paths, oldest first. */
  mounts(): MountEntry[] {
    return parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")).filter(
      (mount) => isBeneath(mount.point, this.path) && mount.point !== this.path,
    );
  }

  mountAt(path: string): MountEntry | undefined {
    return this.mounts().findLast((mount) => mount.point === path);
  }

  /** Wants exactly these intents from now on. */
  want(...intents: readonly NodeVolumeIntent[]): void {
    this.#intents = new Map(intents.map((intent) => [asVolumeName(intent.metadata.name), understood(intent)]));
    this.#executor?.operations.endUnwanted(this.#intents); // as the loop does
  }

  /** Wants one intent whose spec is not understood. */
  wantInvalid(of: ObjectMeta): void {
    this.#intents = new Map([[asVolumeName(of.name), notUnderstood(of)]]);
  }

  /** Keeps something until the node goes. */
  keep<T extends Disposable>(thing: T): T {
    this.#kept.push(thing);
    return thing;
  }

  async journal(): Promise<Journal> {
    this.#journal ??= await Journal.open(this.host.journal, await this.host.evidence.bootID(), keepingLog(this.lines));
    return this.#journal;
  }

  /** Forgets everything in memory, as a crash does. */
  async restart(): Promise<void> {
    await this.#journal?.close();
    this.#journal = undefined;
    this.forgetFailures();
    this.pods.forgetTokens();
    this.#linux.close();
    this.#linux = this.#hostOf(true);
    this.host = this.#wraps.reduce((host, wrap) => wrap(host), this.#linux as HostPorts);
  }

  /** @param now milliseconds of the node's monotonic clock */
  async plan(now = this.#system.clock.monotonic()): Promise<Plan> {
    const journal = await this.journal();
    // Tests rename directories, which the kernel tells nobody: the agent looks every minute.
    this.#linux.mountTable.resync();
    const contents = ({ name }: { name: string }): ContentState => {
      const { version } = this.contents.get(name) ?? {};
      if (version !== undefined) return { known: true, version };
      return { known: false, problem: { reason: "ConfigMapNotFound", message: `no ${name}` } };
    };
    return plan({
      desired: this.pods.desired(this.#intents),
      closingPods: this.pods.closing,
      tokens: this.pods.tokens.states,
      synced: true,
      records: journal.records,
      mayHaveLost: journal.mayHaveLost,
      table: await this.host.mountTable.read(),
      pendingOperations: new Map(),
      failures: this.#backoff.failures,
      ...(this.ended && { ended: this.ended }),
      swaps: swapStates(journal.records, this.host.swaps),
      contents,
      observed: this.#observed,
      settings: this.#settings,
      now,
      epoch: journal.epoch,
    });
  }

  /** Real, but for the time. */
  get #system(): System {
    const { clock, ...real } = realSystem(keepingLog(this.lines));
    return { ...real, clock: { now: () => clock.now(), monotonic: () => clock.monotonic() + this.ahead } };
  }

  /**
   * Plans and acts until nothing is left that may be done at the time at which it was asked: what fails meanwhile is
   * not tried again, however long it takes. @returns the last plan
   */
  async converge(): Promise<Plan> {
    const now = this.#system.clock.monotonic();
    for (let round = 0; round < 50; round++) {
      const next = await this.plan(now);
      if (next.operations.length === 0) return next;
      await Promise.all(next.operations.map((operation) => this.run(operation)));
    }
    throw new Error(`no end after 50 rounds: ${this.done.slice(-10).join(", ")}`);
  }

  /** What became of one volume. */
  async volume(name: VolumeName): Promise<VolumePlan> {
    const found = (await this.converge()).volumes.get(name);
    if (found === undefined) throw new Error(`no plan for ${name}`);
    return found;
  }

  /** Takes away what is mounted for volumes, as if there had never been any. */
  unmountAll(): void {
    for (const mount of this.mounts().reverse()) execFileSync("umount", ["-l", mount.point]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.restart();
    this.unmountAll();
    this.#linux.close();
    for (const thing of this.#kept) thing[Symbol.dispose]();
    execFileSync("umount", ["-l", this.path]);
    rmSync(this.path, { recursive: true });
  }

  /** Carries out one operation of a plan. */
  async run(operation: Operation): Promise<void> {
    const desired = this.pods.desired(this.#intents).get(operation.volume);
    const executor = await this.executorNow();
    const error = await executor.run(operation, desired);
    this.done.push(`${operation.kind}${error === undefined ? "" : ` ${error.reason}`}`);
    if (error === undefined) this.#backoff.succeeded(operation);
    else this.#backoff.failed(operation, desired?.generation ?? 0, error);
  }

  /** One for all operations, until its parts are others. */
  async executorNow(): Promise<OperationExecutor> {
    const { host, deadlineMs, pods } = this;
    const journal = await this.journal();
    const known = this.#executor;
    if (known?.host === host && known.journal === journal && known.deadlineMs === deadlineMs) return known.executor;
    const operations = new PendingOperations({ system: this.#system, journal, evidence: host.evidence });
    const executor = new OperationExecutor({
      ...{ operations, system: this.#system, host, journal, settings: this.#settings, drivers: this.drivers },
      secret: async ({ name }) => this.secrets.get(name) ?? new Map(),
      identities: pods.identities,
      content: (ref) => this.contents.get(ref.name),
      observed: (desired, seen) => {
        const last = { at: this.#system.clock.monotonic(), previous: this.#observed.get(desired.name) };
        this.#observed.set(desired.name, observationOf(desired, seen, last));
      },
      progress: (volume, message) => this.log.push(`${volume}: ${message}`),
      ...(this.deadlineMs !== undefined && { deadlineMs: this.deadlineMs }),
    });
    this.#executor = { executor, operations, host, journal, deadlineMs };
    return executor;
  }

  /** What the agent listens to while a volume waits. */
  async wakesOf(name: VolumeName): Promise<RetryTrigger[]> {
    const volume = await this.volume(name);
    const failures = [...(this.#backoff.failures.get(name) ?? [])];
    return failures.flatMap(([path, failure]) => triggersFor({ path, failure, volume }, this.#settings));
  }

  /** Lets every failed operation be tried again at once. */
  readonly forgetFailures = (): void => this.#backoff.keepOnly(new Set());

  get #settings() {
    return {
      allowedPrefixes: [`${this.path}/mnt`],
      ...{ stateDir: this.stateDir, hostRoot: "/", csiDir: `${this.path}/csi`, seLinux: this.seLinux },
      kubeletDir: this.pods.kubeletDir,
      flexVolumeDir: `${this.path}/vendors`,
    };
  }
}
