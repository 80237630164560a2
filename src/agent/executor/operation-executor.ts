import { flexVolumeDir } from "../../api/names.ts";
import type { SecretReference } from "../../api/types.gen.ts";
import type { CSIDrivers, Secrets } from "../../csi/ports.ts";
import { asVolumeError, boundedError, isAbandoned, unreachable, VolumeError } from "../../errors.ts";
import type { HostPorts } from "../../host/ports/host-ports.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import type { ContentRef, ObjectContent } from "../../plugins/api/content.ts";
import type { System } from "../../ports.ts";
import type { Journal } from "../journal/journal.ts";
import type { Desired, DesiredVolume } from "../model/desired.ts";
import type { VolumeName } from "../model/identities.ts";
import { isRemoval, type Operation } from "../model/operation.ts";
import type { Observed, PlanSettings } from "../model/plan-input.ts";
import { type IdentitySource, noIdentities } from "../model/pod-identity.ts";
import { withoutChild } from "../model/volume-record.ts";
import { recover } from "./csi/recover.ts";
import { republish } from "./csi/republish.ts";
import { expand } from "./expand.ts";
import { type ActionContext, type CSIAccess, recordOf, wanted } from "./operation-context.ts";
import type { OperationProgress, PendingOperations } from "./pending-operations.ts";

import * as targets from "./publish.ts";
import * as staging from "./stage.ts";
import * as release from "./unstage.ts";

/** Milliseconds after which a child is killed (kubelet's csiTimeout), or abandoned if that fails (ChildRunner). */
const defaultDeadlineMs = 120_000;
/**
 * Milliseconds after which an mkfs is killed. mkfs.ext3 writes each inode table, which takes minutes on a disk of
 * terabytes, and after a kill it has to start over.
 */
const formatDeadlineMs = 30 * 60_000;
/**
 * Milliseconds after which a driver call is reported as slow: the same limit as for a child process (tellMs in
 * src/host/linux/child/child-runner.ts).
 */
const slowCallMs = 3_000;

/** Dependencies of carrying out operations: the journal, written before each effect, the host, and CSI drivers. */
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
  progress(volume: VolumeName, message: string): void;
  /** Where operations that are carried out are registered. */
  readonly operations: PendingOperations;
  /** Milliseconds after which a child process is killed; for tests. */
  readonly deadlineMs?: number;
}

/** Carries out operations. The caller runs at most one operation per volume at a time (law L4). */
export class OperationExecutor {
  readonly #deps: OperationExecutorDeps;
  /** Known capabilities of flexvolume drivers: for the life of the process. */
  readonly #vendors = new Map<string, unknown>();

  constructor(deps: OperationExecutorDeps) {
    this.#deps = deps;
  }

  /** @returns the failure, undefined on success; never rejects */
  async run(operation: Operation, desired: Desired | undefined): Promise<VolumeError | undefined> {
    const { journal, operations } = this.#deps;
    const progress = operations.carryOut(operation);
    try {
      if (desired?.deleting === true && isRemoval(operation)) await this.#recordRevoked(operation.volume);
      await this.#perform(operation, this.#context(operation, desired, progress));
      operations.forgetObserver(operation.volume);
      const record = journal.records.get(operation.volume);
      if (record?.child !== undefined) await journal.put(withoutChild(record));
      return undefined;
    } catch (thrown) {
      const { hostRoot } = this.#deps.settings;
      const failed = asVolumeError(thrown, isRemoval(operation) ? "TearDownFailed" : "SetUpFailed");
      const error = boundedError(withNodeDevices(failed, hostRoot));
      if (!isAbandoned(error)) operations.forgetObserver(operation.volume);
      return (await this.#settleChild(operation.volume, error)) ?? error;
    } finally {
      operations.carriedOut(operation);
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

  #context(operation: Operation, desired: Desired | undefined, running: OperationProgress): ActionContext {
    const { host, journal, settings, content, observed, progress, operations } = this.#deps;
    const { volume } = operation;
    const deadlineMs = this.#deps.deadlineMs ?? defaultDeadlineMs;
    const unwanted = running.unwanted && { unwanted: running.unwanted.signal };
    const context: ActionContext = {
      ...{ desired, journal, host, settings, content },
      effects: host.effects({
        ...{ volume, deadlineMs, formatDeadlineMs, ...unwanted },
        onChild: (child) => {
          running.slowChild = undefined;
          return this.#recordChild(context, operation, child);
        },
        onSlow: (slowChild) => operations.isSlow(running, { slowChild }),
      }),
      uniqueID: operation.uniqueID,
      observed: (seen) => observed(wanted(context), seen),
      progress: (message) => progress(volume, message),
      changesOwnership: (what) => operations.changesOwnership(volume, what),
      csi: this.#csiAccess(running, deadlineMs),
      vendors: { directory: settings.flexVolumeDir ?? flexVolumeDir, known: this.#vendors },
    };
    return context;
  }

  #csiAccess(running: OperationProgress, deadlineMs: number): CSIAccess {
    const { drivers, secret, identities = noIdentities, operations, journal, system } = this.#deps;
    return {
      ...{ drivers, secret, identities, deadlineMs },
      now: () => ({ epoch: journal.epoch, ms: system.clock.monotonic() }),
      waitsFor: (driver, method) =>
        system.timers.after(slowCallMs, () => operations.isSlow(running, { slowCall: { driver, method } })),
      takeDirectory(directory) {
        const other = operations.volumeIn(directory);
        if (other !== undefined && other !== running.operation.volume) return other;
        running.directory = directory;
        return undefined;
      },
    };
  }

  async #retain(volume: VolumeName): Promise<void> {
    const record = this.#deps.journal.records.get(volume);
    if (record !== undefined) await this.#deps.journal.put({ ...record, retained: true });
  }

  /** Records that the release has begun: it continues even if the intent object disappears before the end. */
  async #recordRevoked(volume: VolumeName): Promise<void> {
    const record = this.#deps.journal.records.get(volume);
    if (record === undefined || record.revoked === true) return;
    await this.#deps.journal.put({ ...record, revoked: true });
  }

  async #recordChild(context: ActionContext, operation: Operation, child: ChildProcessID): Promise<void> {
    if (operation.kind === "observe") {
      this.#deps.operations.observes(operation.volume, child);
      return;
    }
    await this.#deps.journal.put({ ...recordOf(context, operation.volume), child });
  }

  /** The child of a failed operation has ended, unless it was abandoned: then the operation is still in flight. */
  async #settleChild(volume: VolumeName, error: VolumeError): Promise<VolumeError | undefined> {
    const record = this.#deps.journal.records.get(volume);
    if (record?.child === undefined || isAbandoned(error)) return undefined;
    try {
      await this.#deps.journal.put(withoutChild(record));
      return undefined;
    } catch (thrown) {
      return asVolumeError(thrown, "TearDownFailed");
    }
  }
}

/**
 * PURE. With devices by the paths that the node has for them. The agent opens them beneath `hostRoot`, where nobody
 * looks who reads a message.
 */
export function withNodeDevices(error: VolumeError, hostRoot: string): VolumeError {
  if (hostRoot === "/") return error;
  const escaped = hostRoot.replace(/[^\w/]/g, "\\$&");
  const onNode = (text: string) => text.replace(new RegExp(`(?<![\\w./-])${escaped}(?=/dev/)`, "g"), "");
  const { reason, errorClass, on, heldBy, cause } = error;
  const message = onNode(error.message);
  const of = on && { on: { ...on, name: onNode(on.name) } };
  if (message === error.message && of?.on.name === on?.name) return error;
  return new VolumeError(reason, errorClass, message, { cause, ...of, heldBy });
}
