import type { ExpandingPlugin, TearDownContext } from "../api/teardown.ts";
import { sourceOf } from "../api/volume-plugin.ts";
import { deviceTarget, doneOf, falseReply } from "./done.ts";
import { FlexDriver } from "./driver.ts";
import { optionsJson } from "./options.ts";

/**
 * Has the driver grow the volume where it is kept, and then what is on the node, by the path of the device's mount, or
 * of the volume's if it has none. A driver without expandfs has its file system grown as kubelet does it, unless it
 * says that none is needed (requiresFSResize). (kubelet: pkg/volume/flexvolume/expander.go)
 */
export const expandVolume: ExpandingPlugin["expand"] = async (spec, size, undo, context) => {
  const { driver: name, device = "" } = doneOf(undo);
  const driver = new FlexDriver(name, context);
  const { requiresFSResize } = await driver.capabilities();
  const json = optionsJson(sourceOf(spec, "flexVolume"), spec.key);
  const ofDevice = (await context.tableNow()).at(deviceTarget(context.stagingTarget).path);
  const point = ofDevice?.point ?? context.stagingTarget.path;
  const before = await context.mounter.sizeOf({ root: "/", path: point });
  await driver.call("expandvolume", json, point, size.to, size.from);
  if (!requiresFSResize) return;
  const grown = await driver.call("expandfs", json, device, point, size.to, size.from);
  if (ofDevice === undefined) return; // how large it is, only its driver knows
  if (grown === undefined) await growDisk(device, ofDevice, context);
  const after = await context.mounter.sizeOf({ root: "/", path: point });
  if (after > before || after > Number(size.from)) return;
  throw falseReply(
    name,
    "expandvolume and expandfs",
    `the file system on ${point} has ${after} bytes as before`,
    point,
  );
};

async function growDisk(
  device: string,
  { fsType, point }: { readonly fsType: string; readonly point: string },
  { mounter, devices, hostRoot }: TearDownContext,
): Promise<void> {
  const disk = device === "" ? undefined : await mounter.inspect({ root: hostRoot, path: device });
  if (disk?.kind === "blockDevice") await devices.grow(disk.canonicalPath, fsType, point);
}
