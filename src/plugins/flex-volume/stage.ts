import type { FlexVolumeSource } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";
import { mountIdentity } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { TargetPath } from "../../host/ports/types.ts";
import {
  type FoundSource,
  type StageContext,
  type Staged,
  sourceOf,
  stagingAttributes,
  type VolumeSpec,
} from "../api/volume-plugin.ts";
import { foundSource } from "../host/found-source.ts";
import { type FoundDevice, stageDevice } from "../local/local-device.ts";
import { deviceTarget, doneOf, type FlexDone, falseReply, tearDownDataOf } from "./done.ts";
import { FlexDriver } from "./driver.ts";
import { optionsJson, volumeNameOf } from "./options.ts";

/**
 * Sets one volume up by its driver, as kubelet does for a pod, once for the node:
 *
 *   attach ─► waitforattach ─► mountdevice on STAGING.device ─► mount on STAGING
 *
 * The first three are for drivers that attach. What a driver does not support is done here as kubelet does it: the
 * device is mounted with its file system, and its mount bound. Each step is written down before it begins. Of one that
 * was begun and not seen to end, what is mounted is taken down and made again.
 */
export class FlexStaging {
  readonly #spec: VolumeSpec;
  readonly #source: FlexVolumeSource;
  readonly #context: StageContext;
  readonly #driver: FlexDriver;
  #done: FlexDone;
  #found: FoundSource | undefined;

  constructor(spec: VolumeSpec, context: StageContext) {
    const source = sourceOf(spec, "flexVolume");
    this.#spec = spec;
    this.#source = source;
    this.#context = context;
    this.#driver = new FlexDriver(source.driver, context);
    const anew = { driver: source.driver, volume: volumeNameOf(source, spec.key), node: spec.nodeName };
    this.#done = context.undo === undefined ? anew : doneOf(context.undo);
    this.#found = context.found;
  }

  async stage(): Promise<Staged> {
    const { stagingMount, stagingTarget, undo } = this.#context;
    const { attach } = await this.#driver.capabilities();
    if (stagingMount !== undefined && undo === undefined) {
      // The record of it is lost: it is taken over as it is, and everything is to be undone that may have been done.
      const maybe = attach ? ({ attach: "begun", deviceMount: "done" } as const) : {};
      await this.#record({ ...maybe, mount: "done" });
    } else if (stagingMount === undefined || this.#done.mount === "begun") {
      await this.#name();
      if (attach) await this.#attach();
      const device = attach ? await this.#mountDevice() : undefined;
      await this.#mount(device);
    }
    const mount = await this.#mountOn(stagingTarget);
    if (mount === undefined)
      throw new VolumeError("SetUpFailed", "transient", `${stagingTarget.path} is not there any more`);
    const { deviceNumber } = this.#found ?? {};
    const found = this.#found && { found: this.#found, ...(deviceNumber !== undefined && { deviceNumber }) };
    return {
      kind: "filesystem",
      path: stagingTarget.path,
      fileKind: "directory",
      identity: mountIdentity(mount),
      ...found,
    };
  }

  /** For people alone: as with kubelet, it is the name of ours that the driver gets with detach. */
  async #name(): Promise<void> {
    const named = await this.#driver.call("getvolumename", this.#options);
    if (named !== undefined && named.volumeName !== "") {
      this.#context.progress(`${this.#source.driver} calls the volume ${named.volumeName}`);
    }
  }

  async #attach(): Promise<void> {
    const { nodeName } = this.#spec;
    const { attach, device = "" } = this.#done;
    if (attach === "done") {
      const known = await this.#driver.call("isattached", this.#options, nodeName);
      if (known?.attached === true) return this.#find(device);
    }
    await this.#record({ attach: "begun" });
    const attached = await this.#driver.call("attach", this.#options, nodeName);
    const named = attached?.device ?? "";
    const waited = await this.#driver.call("waitforattach", named, this.#options);
    await this.#record({ attach: "done", device: waited?.device || named });
    await this.#find(this.#done.device ?? "");
  }

  /**
   * A device that is one is known by its number, so that its release waits until nobody has it. What a driver calls a
   * device may be anything.
   */
  async #find(device: string): Promise<void> {
    this.#found = undefined;
    if (!/^\/[^/]/.test(device)) return;
    const info = await this.#context.mounter.inspect({ root: this.#context.hostRoot, path: device });
    if (info?.kind === "blockDevice") this.#found = foundSource(device, info, { ...this.#context, found: undefined });
    await this.#record({});
  }

  /** @returns the mount of the device, if the driver mounts it apart from the volume */
  async #mountDevice(): Promise<MountEntry | undefined> {
    const target = deviceTarget(this.#context.stagingTarget);
    const { deviceMount, device = "" } = this.#done;
    const before = await this.#mountOn(target);
    if (before !== undefined && (deviceMount === "done" || deviceMount === "ours")) return before;
    if (before !== undefined) await this.#again("unmountdevice", target);
    await this.#record({ deviceMount: "begun" });
    await this.#context.mounter.makeTarget(target, "directory");
    const mounted = await this.#driver.call("mountdevice", target.path, device, this.#options);
    if (mounted === undefined) return this.#mountDisk(target, device);
    await this.#record({ deviceMount: "done" });
    return this.#mountOn(target, "mountdevice");
  }

  /** As kubelet's FormatAndMount, by the rules of `local`: only an empty device is formatted, and only with fsType. */
  async #mountDisk(target: TargetPath, device: string): Promise<MountEntry | undefined> {
    await this.#record({ deviceMount: "ours" });
    if (device === "") return undefined; // there is none: its driver mounts the volume by other means
    const { deviceNumber } = this.#found ?? {};
    if (this.#found === undefined || deviceNumber === undefined) {
      const message = `${this.#source.driver} does not support mountdevice, and the device that it has attached, ${device}, is no block device of the node`;
      throw new VolumeError("SourceWrongType", "final", message, { on: { kind: "Device", name: device } });
    }
    const found: FoundDevice = { ...this.#found, deviceNumber };
    const { fsType, readOnly = false } = this.#source;
    const spec = { ...this.#spec, mountOptions: [], ...(fsType !== undefined && { fsType }) };
    const context = {
      ...this.#context,
      stagingTarget: target,
      stagingMount: undefined,
      record: () => this.#record({}),
    };
    await stageDevice(spec, found, context, { readOnly });
    return this.#mountOn(target);
  }

  async #mount(device: MountEntry | undefined): Promise<void> {
    const { stagingTarget, mounter } = this.#context;
    if ((await this.#mountOn(stagingTarget)) !== undefined) await this.#again("unmount", stagingTarget);
    const { secretRef } = this.#source;
    const secrets = secretRef === undefined ? undefined : await this.#context.secret(secretRef);
    await this.#record({ mount: "begun" });
    await mounter.makeTarget(stagingTarget, "directory");
    const json = optionsJson(this.#source, this.#spec.key, secrets);
    const mounted = await this.#driver.call("mount", stagingTarget.path, json);
    if (mounted === undefined) return this.#bind(device);
    const mount = await this.#mountOn(stagingTarget, "mount");
    if (mount === undefined) {
      throw falseReply(this.#source.driver, "mount", `nothing is mounted on ${stagingTarget.path}`, stagingTarget.path);
    }
    const attributes = { ...stagingAttributes, readOnly: this.#source.readOnly === true };
    await mounter.setAttributes(stagingTarget, mount.id, attributes, mount.uniqueID);
    await this.#record({ mount: "done" });
  }

  async #bind(device: MountEntry | undefined): Promise<void> {
    const { stagingTarget, mounter } = this.#context;
    if (device === undefined) {
      const message = `${this.#source.driver} does not support mount, and has mounted no device: it sets nothing up`;
      throw new VolumeError("DriverReplyFalse", "transient", message, {
        on: { kind: "Program", name: this.#driver.path },
      });
    }
    await this.#record({ mount: "ours" });
    const attributes = { ...stagingAttributes, readOnly: this.#source.readOnly === true };
    await mounter.bind({ root: "/", path: device.point }, mountIdentity(device), stagingTarget, attributes);
  }

  /** Takes down what an attempt before may have mounted, and nobody knows how far it got. */
  async #again(command: "unmount" | "unmountdevice", target: TargetPath): Promise<void> {
    const taken = await this.#driver.call(command, target.path);
    const mount = await this.#mountOn(target);
    if (mount === undefined) return;
    if (taken !== undefined)
      throw falseReply(this.#source.driver, command, `${target.path} is mounted still`, target.path);
    await this.#context.mounter.unmount(target, mount.id, "Normal", mount.uniqueID);
  }

  /** @param command after which it is looked at: exactly one mount, or none, may be there */
  async #mountOn({ path }: TargetPath, command?: string): Promise<MountEntry | undefined> {
    const table = await this.#context.tableNow();
    const { length } = table.layers(path);
    if (length <= 1 && (length === 0) === (table.at(path) === undefined)) return table.at(path);
    throw falseReply(
      this.#source.driver,
      command ?? "an earlier call",
      `${length} mounts are on ${path}, or over it`,
      path,
    );
  }

  async #record(facts: Partial<FlexDone>): Promise<void> {
    this.#done = { ...this.#done, ...facts };
    const { deviceNumber } = this.#found ?? {};
    await this.#context.record({
      kind: "filesystem",
      path: this.#context.stagingTarget.path,
      ...(this.#found && { found: this.#found }),
      ...(deviceNumber !== undefined && { deviceNumber }),
      undo: tearDownDataOf(this.#done),
    });
  }

  get #options(): string {
    return optionsJson(this.#source, this.#spec.key);
  }
}
