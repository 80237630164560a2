import type { RBDVolumeSource } from "../../api/types.gen.ts";
import { isAbandoned, VolumeError } from "../../errors.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { RBDDevice, RBDMapping } from "../../host/ports/ceph.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import { secretContent } from "../api/content.ts";
import type { DetachablePlugin, TearDownContext } from "../api/teardown.ts";
import type { TearDownData } from "../api/teardown-data.ts";
import { type StageContext, sourceOf } from "../api/volume-plugin.ts";
import { foundSource } from "../host/found-source.ts";
import { asDevice, type FoundDevice, stageDevice } from "../local/local-device.ts";
import { cephKey, defaultUser } from "./ceph.ts";
import { endServing, isUnused, placeIn, placeOf, serve, unused } from "./rbd-nbd.ts";

/**
 * An image of a Ceph cluster, mapped by the kernel's own client, or by rbd-nbd(8) in its place, and mounted as a local
 * disk is: formatted only if fsType says with what and it looks empty. For writing it is mapped with the cluster's
 * exclusive lock, so that it is mapped for one node at a time. (kubelet until 1.30: pkg/volume/rbd, by rbd(8), after a
 * look at who watches the image)
 */
export const rbd: DetachablePlugin = {
  type: "rbd",

  layout(spec) {
    const source = sourceOf(spec, "rbd");
    return {
      options: source.readOnly === true ? ["ro"] : [],
      readOnly: source.readOnly === true,
      devices: false,
      content: [secretContent(source.secretRef)],
      credentials: true,
    };
  },

  async stage(spec, context) {
    const source = sourceOf(spec, "rbd");
    const { readOnly = false, fsType } = source;
    const asLocal = { ...spec, mountOptions: [], ...(fsType !== undefined && { fsType }) };
    const { stagingMount: mount } = context;
    const by = source.client === "NBD" ? await served(source, context) : undefined;
    const device =
      by?.found ?? (await (mount === undefined ? mapped(source, context) : mountedOf(mount, source, context)));
    const still = async () =>
      refuseOther(device, by ? await by.look() : await pathOf(source, context), source, context);
    const staged = await stageDevice(asLocal, device, context, { readOnly, still });
    if (!readOnly) await grown(device, context);
    return { ...staged, ...(by && { client: by.client }) };
  },

  /** By the text on record alone, or the cookie: what is mapped otherwise is somebody else's. */
  async detach(undo, context) {
    const place = placeIn(undo);
    if (place !== undefined) return endServing(place, context, isUnused(undo));
    const mapping = mappingIn(undo);
    if (mapping === undefined) return;
    const device = await context.rbd.find(mapping);
    if (device !== undefined) await unmap(mapping, device, context);
  },
};

/**
 * Where the ladder allows more than an ordinary unmount: force, but only once it was not to be had without, which
 * writes what is left.
 */
async function unmap(
  mapping: RBDMapping,
  device: RBDDevice,
  { rbd: devices, unmountMode }: TearDownContext,
): Promise<void> {
  try {
    await devices.unmap(mapping, device, false);
  } catch (error) {
    if (unmountMode === "Normal" || isAbandoned(error)) throw error;
    await devices.unmap(mapping, device, true);
  }
}

async function mapped(source: RBDVolumeSource, context: StageContext): Promise<FoundDevice> {
  const { rbd: devices, stagingTarget } = context;
  const mapping = mappingIn(context.undo) ?? mappingOf(source);
  const undo = { ...mapping };
  const place = { kind: "filesystem", path: stagingTarget.path, undo } as const;
  await context.record(place);
  let device = await devices.find(mapping);
  if (device === undefined) {
    await devices.map(mapping, cephKey(context.content?.[0], source));
    device = await devices.find(mapping);
  }
  const found = await deviceOf(device?.path, mapping.image, context);
  await context.record({ ...place, found, deviceNumber: found.deviceNumber });
  return found;
}

/** The same by rbd-nbd(8), also of what is mounted: its process may have ended. */
async function served(
  source: RBDVolumeSource,
  context: StageContext,
): Promise<{ readonly found: FoundDevice; readonly client: ChildProcessID; look(): Promise<string | undefined> }> {
  const { stagingTarget, stagingMount, dataPath, nbd } = context;
  const undo = placeIn(context.undo) ?? placeOf(imageOf(source), dataPath);
  const { cookie } = undo;
  const place = { kind: "filesystem", path: stagingTarget.path, undo } as const;
  const before = await nbd.find(cookie);
  const nobodyHas = before.device === undefined && before.client === undefined;
  if (stagingMount === undefined && (nobodyHas || isUnused(context.undo)))
    await context.record({ ...place, undo: unused(undo) });
  else if (stagingMount === undefined || context.undo === undefined) await context.record(place);
  const { device, client } = await serve(undo, before, source, context);
  const found = await deviceOf(device, undo.image, context);
  if (stagingMount !== undefined && stagingMount.source !== found.path) throw notOf(stagingMount, found);
  await context.record({ ...place, found, deviceNumber: found.deviceNumber });
  return { found, client, look: () => nbd.deviceOf(cookie) };
}

/** Of the image as the kernel has it mapped now. */
async function pathOf(source: RBDVolumeSource, { rbd: devices, undo }: StageContext): Promise<string | undefined> {
  return (await devices.find(mappingIn(undo) ?? mappingOf(source)))?.path;
}

/**
 * While it is mounted nothing else gets its name or number: what is found then is what was mounted.
 * @throws VolumeError DiskNotFound
 */
async function refuseOther(
  { path, deviceNumber }: FoundDevice,
  now: string | undefined,
  source: RBDVolumeSource,
  context: StageContext,
): Promise<void> {
  const node = now === undefined ? undefined : await nodeOf(now, context);
  if (node?.path === path && node.deviceNumber === deviceNumber) return;
  const message = `${path} is no longer ${imageOf(source)}: it is searched again`;
  throw new VolumeError("DiskNotFound", "transient", message, { on: { kind: "Device", name: path } });
}

/** @throws VolumeError SetUpFailed, if the node's /dev has no such device */
async function deviceOf(path: string | undefined, image: string, context: StageContext): Promise<FoundDevice> {
  const found = path === undefined ? undefined : await nodeOf(path, context);
  if (found !== undefined) return found;
  const { hostRoot } = context;
  const message = `the kernel has mapped ${image}, but there is no ${path ?? "device of it"} in ${hostRoot === "/" ? "" : hostRoot}/dev`;
  throw new VolumeError("SetUpFailed", "transient", message);
}

async function nodeOf(path: string, context: StageContext): Promise<FoundDevice | undefined> {
  const info = await context.mounter.inspect({ root: context.hostRoot, path });
  if (info?.kind !== "blockDevice") return undefined;
  return asDevice(foundSource(path, info, { ...context, found: undefined }));
}

/** What is mounted is of the device that was found then; where that is not on record any more, of the image's. */
async function mountedOf(mount: MountEntry, source: RBDVolumeSource, context: StageContext): Promise<FoundDevice> {
  const before = asDevice(context.found);
  if (before !== undefined) return before;
  const found = await mapped(source, context);
  if (mount.source !== found.path) throw notOf(mount, found);
  return found;
}

function notOf({ point, source }: MountEntry, { path }: FoundDevice): VolumeError {
  const message = `${point} has ${source} mounted, which is not ${path}, the device of the image: unmount it by hand`;
  return new VolumeError("ForeignMount", "final", message);
}

/** An image grows while nobody has it for writing; its file system follows when it is staged. */
async function grown({ path }: FoundDevice, context: StageContext): Promise<void> {
  const mount = (await context.tableNow()).at(context.stagingTarget.path);
  if (mount !== undefined) await context.devices.grow(path, mount.fsType, mount.point);
}

/** Seconds that the kernel waits for a monitor, and for the lock; the agent waits longer for the kernel. */
const waits = 30;
/** Of monitors that speak the second version of Ceph's protocol alone there. */
const secondVersion = /:3300$/;

/**
 * PURE. With `noshare` each image has a client of its own: the kernel would have one for all of the same monitors and
 * options, and whoever breaks the lock of one image has the cluster blocklist its client, and so every other image of
 * the node with it.
 */
export function mappingOf(source: RBDVolumeSource): RBDMapping {
  const { monitors, user = defaultUser, readOnly } = source;
  const mode = monitors.every((monitor) => secondVersion.test(monitor)) ? ",ms_mode=prefer-crc" : "";
  const use = readOnly === true ? "ro" : `exclusive,lock_timeout=${waits}`;
  const options = `name=${user},${use},mount_timeout=${waits},noshare${mode}`;
  const image = imageOf(source);
  return { text: `${monitors.join(",")} ${options} ${image.replace("/", " ")} -`, image };
}

function imageOf({ pool = "rbd", image }: RBDVolumeSource): string {
  return `${pool}/${image}`;
}

function mappingIn(undo: TearDownData | undefined): RBDMapping | undefined {
  const { text, image } = undo ?? {};
  return text === undefined || image === undefined ? undefined : { text, image };
}
