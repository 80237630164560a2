import { redact } from "../../api/values/redact.ts";
import { VolumeError } from "../../errors.ts";
import { sameIdentity } from "../../host/mount-table/mount-table.ts";
import {
  type StageContext,
  type Staged,
  showsContent,
  stagesItself,
  stagingAttributes,
} from "../../plugins/api/volume-plugin.ts";
import { plugins } from "../../plugins/registry.ts";
import { isStatePath } from "../actual/state-path.ts";
import { type VolumeContent, volumeContent } from "../content/content-of.ts";
import { saltedDigestOf } from "../content/salted-digest.ts";
import type { DesiredVolume } from "../model/desired.ts";
import { dataPath, hostSource, pathOnHost } from "../model/plan-input.ts";
import { type StageRecord, withFormatting, withoutQuestion, withoutSwap } from "../model/volume-record.ts";
import { fsGroupToWrite } from "../ownership/fsgroup-policy.ts";
import { stageByDriver } from "./csi/stage.ts";
import { disksOf } from "./disks.ts";
import { lookForMountPoints } from "./look-for-mount-points.ts";
import { type ActionContext, recordOf, stagingTarget, wanted } from "./operation-context.ts";
import { secretsIn, withoutSecrets } from "./without-secrets.ts";

/** Brings the volume to where targets can be bound from it. */
export async function stage(context: ActionContext): Promise<void> {
  const desired = wanted(context);
  const { journal } = context;
  const { csi } = desired.layout;
  if (csi !== undefined) return stageByDriver(context, desired, csi);
  const content = volumeContent(desired.layout.content, context.content);
  const survivor = await fromSurvivor(context, desired);
  const staged = survivor ?? (await stageAnew(context, desired, content));
  const record: StageRecord = {
    ...staged,
    ready: true,
    options: desired.layout.options,
    ...keptOf(context, desired),
    ...(desired.layout.credentials !== true && content && { contentVersion: content.version }),
  };
  // What survived is mounted with what it was mounted with, and anything else was written down before it was mounted.
  const mountedWith = remembersSecret(desired) && secretOn(recordOf(context, desired.name).stage);
  await journal.put({ ...withoutQuestion(recordOf(context, desired.name)), stage: { ...record, ...mountedWith } });
}

/** Writes the newest content into what is staged. */
export async function refresh(context: ActionContext): Promise<void> {
  const desired = wanted(context);
  const record = recordOf(context, desired.name);
  const plugin = plugins[desired.type];
  const content = volumeContent(desired.layout.content, context.content);
  if (!showsContent(plugin) || content === undefined || record.stage === undefined) {
    throw new VolumeError("ContentUnknown", "transient", "the content is not known any more");
  }
  const fsGroup = fsGroupToWrite(desired, record);
  const files = plugin.payload(desired.spec, content.contents, fsGroup);
  await context.host.directories.writePayload(record.stage.path, files, fsGroup);
  const written = { contentVersion: content.version, ...(fsGroup !== undefined && { fsGroup }) };
  await context.journal.put({ ...record, stage: { ...record.stage, ...written } });
}

/**
 * Data for undoing stays on record while the volume is staged again, and so does its size. At the first stage, the
 * requested size counts as reached.
 */
function keptOf(context: ActionContext, desired: DesiredVolume): Kept {
  const record = recordOf(context, desired.name);
  const { undo, capacityBytes = wantedSize(desired) } = record.stage ?? {};
  const fsGroup = fsGroupToWrite(desired, record);
  const group = fsGroup === undefined ? {} : { fsGroup };
  return { ...(undo && { undo }), ...(capacityBytes !== undefined && { capacityBytes }), ...group };
}

type Kept = Pick<StageRecord, "undo" | "capacityBytes" | "fsGroup">;

function wantedSize({ layout, capacityBytes }: Pick<DesiredVolume, "layout" | "capacityBytes">): string | undefined {
  return layout.grows === true || layout.swap === true ? capacityBytes : undefined;
}

/** With which Secret a volume is mounted, by its record; nothing of one that was mounted without being written down. */
function secretOn({ contentVersion, mountedWith }: Partial<StageRecord> = {}): SecretOfMount {
  return { ...(contentVersion !== undefined && { contentVersion }), ...(mountedWith && { mountedWith }) };
}

/**
 * Whether it is to be known later which Secret a volume was mounted with: not of one that the Secret opens, whose
 * digest could be guessed from.
 */
function remembersSecret({ layout }: DesiredVolume): boolean {
  return layout.credentials === true && layout.opens !== true;
}

function deviceOf(stage: { [M in keyof DeviceOfStage]: DeviceOfStage[M] | undefined }): DeviceOfStage {
  const { deviceNumber, devicePath, found } = stage;
  return {
    ...(deviceNumber !== undefined && { deviceNumber }),
    ...(devicePath !== undefined && { devicePath }),
    ...(found && { found }),
  };
}

function swapDeviceOf(stage: StageRecord | undefined): string | undefined {
  return stage?.kind === "swap" ? stage.deviceNumber : undefined;
}

type DeviceOfStage = Pick<StageRecord, "deviceNumber" | "devicePath" | "found">;

type SecretOfMount = Pick<StageRecord, "contentVersion" | "mountedWith">;

/**
 * Changes the options of the staged file system in place, and records them after that.
 * @throws VolumeError SetUpFailed if the volume is no longer staged, or as `Mounter.reconfigure` does
 */
export async function reconfigure(context: ActionContext, mountID: number): Promise<void> {
  const desired = wanted(context);
  const record = recordOf(context, desired.name);
  if (record.stage === undefined)
    throw new VolumeError("SetUpFailed", "transient", "the volume is not staged any more");
  const { options } = desired.layout;
  await context.effects.mounter.reconfigure(stagingTarget(context, record), mountID, options, context.uniqueID);
  await context.journal.put({ ...record, stage: { ...record.stage, options } });
}

/** What the source of a volume shows. Reads only. */
export async function observe(context: ActionContext): Promise<void> {
  const { kubelet } = wanted(context);
  if (kubelet !== undefined) return context.observed(await lookForMountPoints(context, kubelet));
  const { hostPath } = wanted(context).layout;
  if (hostPath === undefined) return;
  const mount = (await context.host.mountTable.read()).covering(hostSource(context.settings, hostPath));
  const source = await context.effects.mounter.inspect({ root: context.settings.hostRoot, path: hostPath });
  context.observed({ ...(source && { source }), ...(mount && { mountID: mount.id }) });
}

async function stageAnew(
  context: ActionContext,
  desired: DesiredVolume,
  content: VolumeContent | undefined,
): Promise<Staged> {
  const target = stagingTarget(context, desired.spec);
  const table = await context.host.mountTable.read();
  const given = secretsIn(desired.layout, content?.contents);
  const stagingMount = table.at(target.path);
  // A mount that is there already is taken over, with the Secret that it was mounted with.
  const now = () => content && { contentVersion: content.version, mountedWith: saltedDigestOf(content.contents) };
  const secretOf = (before: StageRecord | undefined) => (stagingMount === undefined ? now() : secretOn(before));
  const stageContext: StageContext = {
    ...context.effects,
    directories: context.host.directories,
    dataPath: dataPath(context.settings, desired.spec),
    stagingTarget: target,
    table,
    stagingMount,
    tableNow: () => context.host.mountTable.read(),
    hostRoot: context.settings.hostRoot,
    vendors: context.vendors,
    found: context.journal.records.get(desired.name)?.stage?.found,
    swapDevice: swapDeviceOf(context.journal.records.get(desired.name)?.stage),
    undo: keptOf(context, desired).undo,
    fsGroup: keptOf(context, desired).fsGroup,
    async secret(ref) {
      const secrets = await context.csi.secret(ref);
      given.push(...secrets.values());
      return secrets;
    },
    content: content?.contents,
    formatting: recordOf(context, desired.name).formatting,
    recordFormatting: (device) => context.journal.put(withFormatting(recordOf(context, desired.name), device)),
    recordNoSwap: () => context.journal.put(withoutSwap(recordOf(context, desired.name))),
    ...disksOf(context, desired.name, desired.spec.grant),
    progress: (message) => context.progress(redact(message, given)),
    async record({ kind, path, directory, deviceNumber, devicePath, found, undo }) {
      const before = recordOf(context, desired.name);
      const { options } = desired.layout;
      const inode = before.stage?.directory?.inode ?? before.stage?.inode;
      const known = directory === undefined ? inode !== undefined && { inode } : { directory };
      // A swap device is known by its number alone: it stays on record until it has another.
      const number = deviceNumber ?? (kind === "swap" ? swapDeviceOf(before.stage) : undefined);
      const device = deviceOf({ deviceNumber: number, devicePath, found });
      const stage = {
        kind,
        path,
        options,
        ready: false,
        ...known,
        ...device,
        ...keptOf(context, desired),
        ...(undo && { undo }),
        ...(remembersSecret(desired) && secretOf(before.stage)),
      };
      await context.journal.put({ ...before, stage });
    },
  };
  const plugin = plugins[desired.type];
  if (!stagesItself(plugin)) throw new Error(`${desired.type} is staged by its driver`);
  const staged = await plugin.stage(desired.spec, stageContext).catch((error) => {
    throw withoutSecrets(error, given);
  });
  if (staged.kind === "path") refuseOwnState(context, staged.path);
  return staged;
}

/**
 * A file system that is not on its staging path any more, but still on a target: it is brought back from there, with
 * its data. Mounting it again would give an empty tmpfs, or find the device busy.
 */
async function fromSurvivor(context: ActionContext, desired: DesiredVolume): Promise<Staged | undefined> {
  const { stage: before, targets = [] } = context.journal.records.get(desired.name) ?? {};
  const target = stagingTarget(context, desired.spec);
  const table = await context.host.mountTable.read();
  const identity = before?.identity;
  if (before?.kind !== "filesystem" || identity === undefined || table.layers(target.path).length > 0) return undefined;
  const survivor = targets.find(({ path }) => {
    const mount = table.at(path);
    return mount !== undefined && sameIdentity(mount, identity);
  });
  if (survivor === undefined) return undefined;
  // It serves nobody.
  if (before.client !== undefined && !(await context.host.evidence.alive(before.client))) return undefined;
  const { mounter } = context.effects;
  await mounter.makeTarget(target, "directory");
  await mounter.bind({ root: "/", path: survivor.path }, identity, target, stagingAttributes);
  const { path, client } = before;
  const device = deviceOf(before);
  return { kind: "filesystem", path, fileKind: "directory", identity, ...device, ...(client && { client }) };
}

/** A source that leads into the state directory by a link would show the payloads of others. */
function refuseOwnState({ settings }: ActionContext, canonicalPath: string): void {
  if (!isStatePath(pathOnHost(settings, canonicalPath), settings)) return;
  throw new VolumeError("SourceNotAllowed", "final", `the source leads to ${canonicalPath}, the agent's own state`);
}
