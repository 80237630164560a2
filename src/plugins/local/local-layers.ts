import { isOfNodeItself } from "../../api/source-traits.ts";
import type { LocalVolumeSource } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";
import { type LogicalVolumeName, type MappedDevice, mapperName, nameOf } from "../../host/ports/block-layers.ts";
import type { Disk } from "../../host/ports/disk.ts";
import type { DeviceInfo } from "../../host/ports/host-ports.ts";
import type { FoundSource, StageContext, Staged, VolumeSpec } from "../api/volume-plugin.ts";
import { stagedPath } from "../host/host-path.ts";
import { refuseAttached } from "./attached-disk.ts";
import { isRest, isSomebodys, restRecord } from "./format-licence.ts";
import {
  headerRefused,
  isSpent,
  notEncrypted,
  refuseOtherVolume,
  textOf,
  volumeHidden,
  volumeMissing,
} from "./layer-refusals.ts";
import {
  type DeviceHow,
  emptied,
  endedByItself,
  type FoundDevice,
  keptDisk,
  licenceOfRest,
  mayHaveBegun,
  probe,
  stageDevice,
} from "./local-device.ts";
import {
  type LayersMade,
  type MaybeMade,
  madeOf,
  mappingOf,
  randomUUIDOf,
  tearDownDataOf,
  uuidOf,
} from "./local-teardown.ts";
import { passphraseOf } from "./passphrase.ts";
import { requireGrantIfShared } from "./shared-disk.ts";
import { stageSwap } from "./swap.ts";

/** What the layers are made on: a device that was found, and the disk that a selector has found it by. */
export interface Base {
  readonly found: FoundDevice;
  readonly disk?: Disk | undefined;
}

/**
 * Sets up what lies beneath the file system of a local volume, from below, each written down before it is made:
 *
 *   logical volume made or grown, and activated ─► LUKS header made on what is empty ─► opened ─► file system
 *
 * What is open already is taken as it is.
 */
export class LayeredStaging {
  readonly #spec: VolumeSpec;
  readonly #source: LocalVolumeSource;
  readonly #context: StageContext;
  readonly #mapping: string;
  /** Of a header of ours. */
  readonly #uuid: string;
  #made: LayersMade;
  #found: FoundSource | undefined;
  /** Whether what the header opens was there before: it may be smaller than its device, as its growth was cut off. */
  #wasOpen = false;
  /** Whether we have made the logical volume: nobody else's data is on it, whatever its size. */
  #ours = false;
  /** What a header that nobody is to open again is made with. */
  readonly #random: Uint8Array | undefined;
  /** What is on record of what was begun: context.formatting as it is now. */
  #licence: string | undefined;

  constructor(spec: VolumeSpec, source: LocalVolumeSource, context: StageContext) {
    this.#spec = spec;
    this.#source = source;
    this.#context = context;
    this.#mapping = mappingOf(spec);
    this.#made = madeOf(context.undo ?? {});
    this.#found = context.found;
    this.#licence = context.formatting;
    this.#random = source.encryption?.randomKey === true ? context.layers.randomKey() : undefined;
    this.#uuid = this.#random === undefined ? uuidOf(spec) : randomUUIDOf(spec);
  }

  /** @param findBase looks for the device, where it is not a logical volume's */
  async stage(findBase: () => Promise<Base>): Promise<Staged> {
    const { mounter, devices } = this.#context;
    const top = await this.#top(findBase);
    const info = await mounter.inspect({ root: "/", path: top.path });
    if (info === undefined) throw new VolumeError("SetUpFailed", "transient", `there is no ${top.path} on the node`);
    const found: FoundDevice = { path: top.path, kind: "blockDevice", deviceNumber: top.deviceNumber };
    const made = this.#found === undefined ? {} : { found: this.#found };
    if (this.#spec.volumeMode === "Block") {
      if (this.#made.fresh !== undefined) await this.#record({ ...this.#made, fresh: undefined });
      if (this.#context.formatting !== undefined) await this.#context.recordFormatting(undefined);
      await this.#grow();
      const { deviceNumber, path: devicePath } = top;
      const { found: _device, ...staged } = stagedPath(info, found);
      return { ...staged, ...made, kind: "device", deviceNumber, devicePath };
    }
    if (isOfNodeItself(this.#spec)) {
      return stageSwap(this.#spec, found, await this.#allowing(top), { made, grow: () => this.#grow() });
    }
    const staged = await stageDevice(this.#spec, found, await this.#allowing(top), { made });
    const mount = (await this.#grow()) ? (await this.#context.tableNow()).at(staged.path) : undefined;
    if (mount !== undefined) await devices.grow(top.path, mount.fsType, mount.point);
    return staged;
  }

  /**
   * Grows the logical volume, and what is opened on it, to the size that is said. Nothing makes it smaller again: one
   * that we have not made must have shown first that it is what the spec says.
   * @returns whether it has a size that is said
   */
  async #grow(): Promise<boolean> {
    const { lvm, encryption } = this.#source;
    const { capacityBytes } = this.#spec;
    if (lvm === undefined || capacityBytes === undefined) return false;
    const { layers } = this.#context;
    const volume = nameOf(lvm);
    const now = await layers.logicalVolume(volume);
    const grows = now !== undefined && BigInt(now.sizeBytes) < BigInt(capacityBytes);
    if (grows) await layers.growLogicalVolume(volume, BigInt(capacityBytes));
    if (encryption !== undefined && (grows || this.#wasOpen)) await this.#resizeOpened();
    return true;
  }

  async #resizeOpened(): Promise<void> {
    // Nobody has its key any more.
    if (this.#spec.capacityBytes === undefined || (this.#random !== undefined && this.#wasOpen)) return;
    await this.#context.layers.resizeLUKS(this.#mapping, this.#passphrase());
    this.#wasOpen = false;
  }

  async #top(findBase: () => Promise<Base>): Promise<MappedDevice> {
    const { lvm, encryption } = this.#source;
    const { layers } = this.#context;
    if (encryption === undefined)
      return this.#mapped(mapperName(lvm ?? { volumeGroup: "", logicalVolume: "" }), () => this.#volume());
    const open = await layers.mapped(this.#mapping);
    if (open !== undefined && open.over.length > 0) {
      if (this.#made.mapping === undefined) await this.#record({ ...this.#made, mapping: this.#mapping });
      this.#wasOpen = true;
      if (lvm !== undefined) await this.#volume();
      if (this.#ours) await this.#resizeOpened();
      return open;
    }
    if (open !== undefined) await layers.closeLUKS(this.#mapping); // its device is gone
    return this.#mapped(this.#mapping, async () =>
      this.#open(lvm === undefined ? await findBase() : await this.#onVolume()),
    );
  }

  #passphrase(): Uint8Array {
    const { encryption } = this.#source;
    if (this.#random !== undefined) return this.#random;
    if (encryption?.secretRef === undefined) throw new Error("nothing is encrypted");
    return passphraseOf(this.#context.content?.[0], encryption.secretRef);
  }

  /** The device of a name, after it was made. */
  async #mapped(name: string, make: () => Promise<void>): Promise<MappedDevice> {
    await make();
    const mapped = await this.#context.layers.mapped(name);
    if (mapped !== undefined) return mapped;
    throw new VolumeError("SetUpFailed", "transient", `the node's programs have made no device ${name}`);
  }

  async #onVolume(): Promise<Base> {
    const { lvm = { volumeGroup: "", logicalVolume: "" } } = this.#source;
    const { path, deviceNumber } = await this.#mapped(mapperName(lvm), () => this.#volume());
    return { found: { path, kind: "blockDevice", deviceNumber } };
  }

  async #volume(): Promise<void> {
    const { lvm } = this.#source;
    if (lvm === undefined) throw new Error("there is no logical volume to make");
    const { layers } = this.#context;
    const { capacityBytes } = this.#spec;
    const volume = nameOf(lvm);
    const now = await layers.logicalVolume(volume);
    const { volumeIdentity, fresh: newest } = this.#made;
    // One of ours that never had anything on it may be gone: it is made anew.
    if (now !== undefined || newest !== "volume") refuseOtherVolume(volume, now, volumeIdentity);
    if (now === undefined) {
      if (capacityBytes === undefined) throw volumeMissing(volume);
      await this.#record({ ...this.#made, volume, volumeIdentity: undefined, activated: true, fresh: "volume" });
      this.#context.progress(`making the logical volume ${textOf(volume)} of ${capacityBytes} bytes`);
      await layers.makeLogicalVolume(volume, BigInt(capacityBytes), this.#mapping);
      const identity = (await layers.logicalVolume(volume))?.identity;
      if (identity !== undefined) await this.#record({ ...this.#made, volumeIdentity: identity });
      return;
    }
    if (!now.shown) throw volumeHidden(volume);
    // One that another has made meanwhile, under the name of one that we were about to make, has not our tag.
    this.#ours = now.tags.includes(this.#mapping);
    const { fresh, ...known } = this.#made;
    const made = {
      ...known,
      volume,
      volumeIdentity: now.identity,
      ...((fresh === "header" || this.#ours) && { fresh }),
    };
    await this.#record(now.active ? made : { ...made, activated: true });
    if (!now.active) await layers.activate(volume, true);
    if (!this.#ours || capacityBytes === undefined) return;
    if (BigInt(now.sizeBytes) < BigInt(capacityBytes)) await this.#lookBeforeGrowth(volume);
    await layers.growLogicalVolume(volume, BigInt(capacityBytes));
  }

  /** What was left on an unfinished volume is known by its digest, which is another once the volume has grown. */
  async #lookBeforeGrowth(volume: LogicalVolumeName): Promise<void> {
    const mapped = this.#made.fresh === "volume" ? await this.#context.layers.mapped(mapperName(volume)) : undefined;
    if (mapped === undefined || this.#licence === undefined) return;
    const device = await this.#context.devices.probe({ root: "/", path: mapped.path });
    if (!(await isRest(device, this.#licence, this.#licensing))) return;
    this.#licence = undefined; // what it has once it has grown is written down at the next look
    await this.#context.recordFormatting(undefined);
  }

  /** Of a volume of ours: without a licence it is not ours to format any more. */
  readonly #licensing: Pick<StageContext, "recordFormatting"> = {
    recordFormatting: async (device) => {
      this.#licence = device;
      if (device === undefined) await this.#record({ ...this.#made, fresh: undefined });
      await this.#context.recordFormatting(device);
    },
  };

  /** Opens the header on a device, and makes it first if nothing is there. */
  async #open({ found, disk }: Base): Promise<void> {
    const { layers, recordDisk } = this.#context;
    const passphrase = this.#passphrase();
    if (disk !== undefined || this.#source.path !== undefined) this.#found = found;
    const seen = await probe(found.path, disk, this.#context);
    const kept = this.#source.lvm === undefined ? keptDisk(this.#spec, seen, disk, this.#context) : disk;
    if (this.#source.lvm === undefined) await requireGrantIfShared(seen, this.#context);
    await refuseAttached(this.#spec, seen, this.#context);
    const device = await emptied(this.#spec, seen, { disk, kept }, this.#context);
    const spent = this.#random !== undefined && isSpent(this.#spec, disk, device);
    const makes = device.signature === undefined || spent;
    const header = makes ? await this.#makeHeader(device, { disk, kept }, passphrase, spent) : device;
    if (header.signature !== "crypto_LUKS") throw notEncrypted(this.#spec, disk, header);
    if (kept !== undefined) await recordDisk(kept, header.uuid);
    const fresh = header.uuid === this.#uuid ? this.#made.fresh : undefined;
    await this.#record({ ...this.#made, mapping: this.#mapping, fresh });
    await layers
      .openLUKS(header, this.#mapping, passphrase)
      .catch((error) => this.#beginAgain(error, header, passphrase));
  }

  /** @returns the device with its header */
  async #makeHeader(
    device: DeviceInfo,
    { disk, kept }: Pick<DeviceHow, "disk" | "kept">,
    passphrase: Uint8Array,
    spent: boolean,
  ) {
    const { identity } = device;
    const onVolume = this.#made.fresh === "volume";
    const begun = await (onVolume
      ? isRest(device, this.#licence ?? identity, this.#licensing)
      : isRest(device, this.#licence, this.#context));
    const rest = begun || spent;
    const refusal = headerRefused(this.#spec, disk, device, rest);
    if (refusal !== undefined) throw refusal;
    if (kept !== undefined) await this.#context.recordDisk(kept, undefined);
    const before = this.#made;
    await this.#context.recordFormatting(identity);
    await this.#record({ ...before, fresh: "header" });
    return this.#writeHeader(device, passphrase, rest, async (error) => {
      const untouched = begun && identity !== undefined && !endedByItself(error) && !isSomebodys(error);
      await this.#context.recordFormatting(untouched ? restRecord(identity, device.contents) : undefined);
      await this.#record({ ...before, fresh: onVolume && !untouched ? undefined : before.fresh });
    });
  }

  /** @param refused takes back what was written down, as cryptsetup never had the device, or is done with it */
  async #writeHeader(
    device: DeviceInfo,
    passphrase: Uint8Array,
    rest: boolean,
    refused: (e: unknown) => Promise<void>,
  ) {
    this.#context.progress(`making a LUKS header on ${device.path}`);
    try {
      await this.#context.layers.formatLUKS(device, passphrase, {
        uuid: this.#uuid,
        rest: rest ? device.contents : undefined,
      });
    } catch (error) {
      if (!mayHaveBegun(error)) await refused(error);
      else await this.#context.recordFormatting(await licenceOfRest(error, device, this.#context));
      throw error;
    }
    return this.#context.devices.probe({ root: "/", path: device.path });
  }

  /** A header of ours that was cut off before it had its key opens by nothing, and hides nothing: it is made anew. */
  async #beginAgain(error: unknown, header: DeviceInfo, passphrase: Uint8Array): Promise<void> {
    const refused = error instanceof VolumeError && error.reason === "PassphraseRefused";
    const begun = header.identity !== undefined && header.identity === this.#context.formatting;
    if (!refused || !begun || this.#made.fresh !== "header") throw error;
    await refuseAttached(this.#spec, header, this.#context, { writes: true });
    const anew = await this.#writeHeader(header, passphrase, true, async () => {});
    await this.#context.layers.openLUKS(anew, this.#mapping, passphrase);
  }

  /** The context for what is done on the top: what is ours and was never finished may be formatted as it is. */
  async #allowing(top: MappedDevice): Promise<StageContext> {
    const context = this.#context;
    const record: StageContext["record"] = (what) => context.record({ ...what, undo: tearDownDataOf(this.#made) });
    const last = this.#source.encryption === undefined ? "volume" : "header";
    if (this.#made.fresh !== last || context.stagingMount !== undefined) return { ...context, record };
    const { identity } = await context.devices.probe({ root: "/", path: top.path });
    if (last === "volume") {
      return { ...context, record, formatting: this.#licence ?? identity, ...this.#licensing, unfinished: last };
    }
    const recordFormatting: StageContext["recordFormatting"] = async (device) => {
      if (device !== undefined) return; // it is on record that it is ours
      await this.#record({ ...this.#made, fresh: undefined });
      await context.recordFormatting(undefined);
    };
    return { ...context, record, formatting: identity, recordFormatting, unfinished: last };
  }

  async #record(made: MaybeMade): Promise<void> {
    this.#made = madeOf(tearDownDataOf(made));
    const { stagingTarget } = this.#context;
    const kind = isOfNodeItself(this.#spec) ? "swap" : this.#spec.volumeMode === "Block" ? "device" : "filesystem";
    const found = this.#found && { found: this.#found };
    await this.#context.record({ kind, path: stagingTarget.path, ...found, undo: tearDownDataOf(this.#made) });
  }
}
