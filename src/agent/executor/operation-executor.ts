import { flexVolumeDir } from "../../api/names.ts";
import type { SecretReference } from "../../api/types.gen.ts";
import type { CSIDrivers, Secrets } from "../../csi/ports.ts";
import { boundedError, unreachable, type VolumeError } from "../../errors.ts";
import type { HostPorts } from "../../host/ports/host-ports.ts";
import type { SlowChild } from "../../host/ports/remote-mount.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import type { ContentRef, ObjectContent } from "../../plugins/api/content.ts";
import type { System } from "../../ports.ts";
import type { Journal } from "../journal/journal.ts";
import type { SlowCall } from "../model/blocked.ts";
import type { Desired, DesiredVolume } from "../model/desired.ts";
import { isRemoval, type Operation } from "../model/operation.ts";
import type { Observed, PlanSettings } from "../model/plan-input.ts";
import { withoutChild } from "../model/volume-record.ts";
import { type IdentitySource, noIdentities } from "../pods/kept-tokens.ts";
import { asVolumeError, withNodeDevices } from "./as-volume-error.ts";
import { recover } from "./csi/recover.ts";
import { republish } from "./csi/republish.ts";
import { expand } from "./expand.ts";
import { type OwnershipChange, OwnershipChanges } from "./fsgroup-progress.ts";
import { type ActionContext, recordOf, wanted } from "./operation-context.ts";
import * as targets from "./publish.ts";
import * as staging from "./stage.ts";
import { Stagings } from "./stagings.ts";
import * as release from "./unstage.ts";

/** Milliseconds after which a child process is abandoned (kubelet's csiTimeout). */
const defaultDeadlineMs = 120_000;
/**
 * Milliseconds after which an mkfs is abandoned. mkfs.ext3 writes each inode table, which takes minutes on a disk of
 * terabytes, and after a kill it has to start over.
 */
const formatDeadlineMs = 30 * 60_000;
/**
 * Milliseconds after which a driver call is reported as slow: the same limit as for a child process
 * (src/host/linux/child/child-slots.ts).
 */
const slowCallMs = 3_000;

/**
 * Dependencies of carrying out operations: the journal, which is written before each effect, the host, and CSI drivers.
 */
export interface OperationExecutorDeps {
  readonly system: System;
  readonly host: HostPorts;
  readonly journal: Journal;
  readonly settings: PlanSettings;
  readonly drivers: CSIDrivers;
  /** A Secret that a driver needs, as it is now. @throws VolumeError */
  secret(ref: SecretReference): Promise<Secrets>;
  /** Service account tokens that kubelet passed in NodePublishVolume; none if not given. */
  readonly identities?: IdentitySource;
  content(ref: ContentRef): ObjectContent | undefined;
  observed({ name, uid, generation }: DesiredVolume, seen: Observed): void;
  progress(volume: string, message: string): void;
  /** Called when `slow` has changed, so that the status reports what a volume waits for. */
  onSlow?(): void;
  /** Milliseconds after which a child process is abandoned; for tests. */
  readonly deadlineMs?: number;
}

/** Carries out operations. The caller runs at most one operation per volume at a time (law L4). */
export class OperationExecutor {
  readonly #deps: OperationExecutorDeps;
  /** Child processes of observe operations, by volume: until the operation succeeds, or the child has ended. */
  readonly #observers = new Map<string, ChildProcessID>();
  /** Slow child processes and driver calls, by volume: until the next child, or the end of the operation. */
  readonly #slow = new Map<string, SlowChild>();
  readonly #slowCalls = new Map<string, SlowCall>();
  /** Volume of the running operation, by the directory of its CSI volume: two intents must not share one. */
  readonly #busy = new Map<string, string>();
  /** Target paths of running operations. */
  readonly #paths = new Set<string>();
  /** Known capabilities of flexvolume drivers: for the life of the process. */
  readonly #vendors = new Map<string, unknown>();
  readonly #stagings = new Stagings();
  readonly #changes: OwnershipChanges;

  constructor(deps: OperationExecutorDeps) {
    this.#deps = deps;
    this.#changes = new OwnershipChanges(deps.system.timers, () => deps.onSlow?.());
  }

  /** @returns the failure, undefined on success; never rejects */
  async run(operation: Operation, desired: Desired | undefined): Promise<VolumeError | undefined> {
    const { journal } = this.#deps;
    if ("path" in operation) this.#paths.add(operation.path);
    try {
      if (desired?.deleting === true && isRemoval(operation)) await this.#recordRevoked(operation.volume);
      await this.#perform(operation, this.#context(operation, desired));
      this.#observers.delete(operation.volume);
      const record = journal.records.get(operation.volume);
      if (record?.child !== undefined) await journal.put(withoutChild(record));
      return undefined;
    } catch (thrown) {
      const { hostRoot } = this.#deps.settings;
      const error = boundedError(withNodeDevices(asVolumeError(thrown, operation), hostRoot));
      if (!isAbandoned(error)) this.#observers.delete(operation.volume);
      return (await this.#settleChild(operation.volume, error)) ?? error;
    } finally {
      for (const [directory, volume] of this.#busy) if (volume === operation.volume) this.#busy.delete(directory);
      this.#slow.delete(operation.volume);
      this.#slowCalls.delete(operation.volume);
      this.#stagings.end(operation.volume);
      if ("path" in operation) this.#paths.delete(operation.path);
    }
  }

  async #perform(operation: Operation, context: ActionContext): Promise<void> {
    switch (operation.kind) {
      case "stage":
        return staging.stage(context);
      case "refresh":
        return staging.refresh(context);
      case "reconfigure":
        return staging.reconfigure(context, operation.mountID);
      case "observe":
        return staging.observe(context);
      case "publish":
        return targets.publish(context, operation.path, operation.replaces);
      case "setAttributes":
        return targets.setAttributes(context, operation.path, operation.mountID);
      case "adopt":
        return targets.adopt(context, operation.path, operation.mountID);
      case "claim":
        return targets.claim(context);
      case "note":
        return targets.note(context, operation.volume, operation);
      case "unpublish":
        return targets.unpublish(context, operation.volume, operation);
      case "unstage":
        await release.unstage(context, operation.volume, operation);
        return;
      case "recover":
        return recover(context);
      case "republish":
        return republish(context, operation.path);
      case "expand":
        return expand(context);
      case "retain":
        return this.#retain(operation.volume);
      case "forget":
        return release.forget(context, operation.volume);
      default:
        return unreachable(operation);
    }
  }

  #context(operation: Operation, desired: Desired | undefined): ActionContext {
    const { host, journal, settings, content, observed, progress, drivers, secret, system } = this.#deps;
    const { volume } = operation;
    const onChild = (child: ChildProcessID) => {
      this.#slow.delete(volume);
      return this.#recordChild(context, operation, child);
    };
    const onSlow = (slow: SlowChild) => {
      this.#slow.set(volume, slow);
      this.#deps.onSlow?.();
    };
    const deadlineMs = this.#deps.deadlineMs ?? defaultDeadlineMs;
    const waitsFor = (driver: string, method: string) =>
      system.timers.after(slowCallMs, () => {
        this.#slowCalls.set(volume, { driver, method });
        this.#deps.onSlow?.();
      });
    const unwanted = operation.kind === "stage" ? { unwanted: this.#stagings.begin(volume) } : {};
    const context: ActionContext = {
      ...{ desired, journal, host, settings, content },
      effects: host.effects({ volume, deadlineMs, formatDeadlineMs, onChild, onSlow, ...unwanted }),
      uniqueID: operation.uniqueID,
      observed: (seen) => observed(wanted(context), seen),
      progress: (message) => progress(volume, message),
      changesOwnership: (what) => this.#changes.begin(volume, what),
      csi: {
        drivers,
        secret,
        identities: this.#deps.identities ?? noIdentities,
        now: () => ({ epoch: journal.epoch, ms: system.clock.monotonic() }),
        waitsFor,
        busy: this.#busy,
        deadlineMs,
      },
      vendors: { directory: settings.flexVolumeDir ?? flexVolumeDir, known: this.#vendors },
    };
    return context;
  }

  async #retain(volume: string): Promise<void> {
    const record = this.#deps.journal.records.get(volume);
    if (record !== undefined) await this.#deps.journal.put({ ...record, retained: true });
  }

  /** Records that the release has begun: it continues even if the intent object disappears before the end. */
  async #recordRevoked(volume: string): Promise<void> {
    const record = this.#deps.journal.records.get(volume);
    if (record === undefined || record.revoked === true) return;
    await this.#deps.journal.put({ ...record, revoked: true });
  }

  /**
   * Child processes of observe operations. They are in no record, because an observed volume has none, and they leave
   * nothing behind if they hang.
   */
  get observers(): ReadonlyMap<string, ChildProcessID> {
    return this.#observers;
  }

  /** Children that run and take long, by volume. */
  get slow(): ReadonlyMap<string, SlowChild> {
    return this.#slow;
  }

  /** Targets that operations work on. Changed in place. */
  get busyPaths(): ReadonlySet<string> {
    return this.#paths;
  }

  /** Calls of CSI drivers that take long, by volume. */
  get slowCalls(): ReadonlyMap<string, SlowCall> {
    return this.#slowCalls;
  }

  /** fsGroup changes that take long, by volume. */
  get ownershipChanges(): ReadonlyMap<string, OwnershipChange> {
    return this.#changes.told;
  }

  /**
   * Ends long-running work that no intent needs any more: fsGroup changes and stagings.
   * @param intents all intents of the node
   */
  endUnwanted(intents: ReadonlyMap<string, Desired>): void {
    this.#changes.endUnwanted(intents);
    this.#stagings.endUnwanted(intents);
  }

  /** The child process of an observe operation has ended. */
  forgetObserver(volume: string): void {
    this.#observers.delete(volume);
  }

  async #recordChild(context: ActionContext, operation: Operation, child: ChildProcessID): Promise<void> {
    if (operation.kind === "observe") {
      this.#observers.set(operation.volume, child);
      return;
    }
    await this.#deps.journal.put({ ...recordOf(context, operation.volume), child });
  }

  /** The child of a failed operation has ended, unless it was abandoned: then the operation is still in flight. */
  async #settleChild(volume: string, error: VolumeError): Promise<VolumeError | undefined> {
    const record = this.#deps.journal.records.get(volume);
    if (record?.child === undefined || isAbandoned(error)) return undefined;
    try {
      await this.#deps.journal.put(withoutChild(record));
      return undefined;
    } catch (thrown) {
      return asVolumeError(thrown, { volume, kind: "forget" });
    }
  }
}

/**
 * Whether an operation failed because its child process was abandoned and may still act. False if the operation was
 * refused because of an earlier abandoned child.
 */
function isAbandoned({ reason, errorClass }: VolumeError): boolean {
  return reason === "OperationAbandoned" && errorClass === "uncertain";
}
