import { VolumeError } from "../../errors.ts";
import type { TargetPath } from "../../host/ports/types.ts";
import type { TearDownContext } from "../api/teardown.ts";
import type { TearDownData } from "../api/teardown-data.ts";
import { deviceTarget, doneOf, falseReply, type Progress } from "./done.ts";
import { FlexDriver } from "./driver.ts";

/**
 * Has the driver unmount what it mounted, the volume before its device. What a driver does not unmount although it says
 * so, or refuses to, is unmounted by the agent only where the ladder allows more than an ordinary unmount: the driver
 * may have more to undo.
 */
export async function unmountStaged(undo: TearDownData, context: TearDownContext): Promise<void> {
  const done = doneOf(undo);
  const driver = new FlexDriver(done.driver, context);
  await takeDown(driver, "unmount", { target: context.stagingTarget, done: done.mount }, context);
  const device = deviceTarget(context.stagingTarget);
  await takeDown(driver, "unmountdevice", { target: device, done: done.deviceMount }, context);
  if (done.deviceMount !== undefined) await context.mounter.removeTarget(device, "directory");
}

/** Gives the device back, when nobody on the node holds it. Done already is Success to a driver. */
export async function detach(undo: TearDownData, context: TearDownContext): Promise<void> {
  const { driver, volume, node, attach } = doneOf(undo);
  if (attach !== undefined) await new FlexDriver(driver, context).call("detach", volume, node);
}

async function takeDown(
  driver: FlexDriver,
  command: "unmount" | "unmountdevice",
  { target, done }: { readonly target: TargetPath; readonly done: Progress | undefined },
  context: TearDownContext,
): Promise<void> {
  if (done === undefined) return;
  const isMounted = async () => (await context.tableNow()).layers(target.path).length > 0;
  if (done === "ours" || context.unmountMode !== "Normal") return context.unmount(target);
  // A device that is not mounted is not asked for again (kubelet: UnmountDevice); a volume is, as more may have been
  // set up for it.
  if (command === "unmountdevice" && !(await isMounted())) return;
  try {
    const supported = await driver.call(command, target.path);
    if (supported === undefined) return await context.unmount(target);
  } catch (error) {
    const refused = error instanceof VolumeError && error.reason === "DriverFailed";
    if (!refused || (await isMounted())) throw error;
    context.progress(`${error.message}; nothing is mounted on ${target.path} any more, so it counts as done`);
    return;
  }
  if (await isMounted()) throw falseReply(driver.name, command, `${target.path} is mounted still`, target.path);
}
