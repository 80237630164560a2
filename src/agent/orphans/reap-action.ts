import type { CSIDrivers } from "../../csi/ports.ts";
import { VolumeError } from "../../errors.ts";
import { joinPath } from "../../host/mount-table/mount-table.ts";
import type { Traces } from "../../host/ports/evidence.ts";
import type { Effects, HostPorts } from "../../host/ports/host-ports.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import { falseReply } from "../executor/csi/reply.ts";
import { withUsers } from "../executor/holders/mount-holders.ts";
import { handleOf } from "./gather-world.ts";
import type { OrphanProof } from "./orphan-proof.ts";

/** Milliseconds after which a child that unmounts is given up. */
const deadlineMs = 60_000;

/** Dependencies of removing one leftover. */
export interface ReapActionDeps {
  readonly host: HostPorts;
  readonly traces: Traces;
  readonly drivers: Pick<CSIDrivers, "driver">;
  readonly hostRoot: string;
  onChild(child: ChildProcessID): Promise<void>;
}

type Proved = Extract<OrphanProof, { readonly proof: string }>;

/**
 * Removes one mount of which it is proved that nobody has it: that of a pod by umount(2), of this mount and no other; a
 * staged volume by its driver, which may have more to take down than a mount. Nothing is forced, nothing detached, and
 * of directories only the mount point goes that a driver would have removed, if it is empty.
 * @throws VolumeError
 */
export async function reap(deps: ReapActionDeps, proved: Proved): Promise<void> {
  const { host } = deps;
  const { mounter } = host.effects({ deadlineMs, formatDeadlineMs: deadlineMs, onChild: deps.onChild });
  const { mount, place } = proved;
  if (place.kind === "PodMount") await unmountOfPod(host, mounter, proved);
  else await unstage(deps, proved);
  const table = await (host.nodeTable ?? host.mountTable).read();
  if (table.layers(mount.point).length > 0) {
    if (place.kind === "Staging")
      throw falseReply(place.driver, "NodeUnstageVolume", `${mount.point} is mounted still`, mount.point);
    const message = `${mount.point} is unmounted here, and on the node it is not`;
    throw new VolumeError("NotPropagated", "transient", message, { on: { kind: "Mount", name: mount.point } });
  }
  if (place.kind === "Staging") await removePoint(host, mounter, joined(deps.hostRoot, place.prefix, mount.point));
  else if (place.ofDriver) await removePoint(host, mounter, { prefix: place.prefix, path: mount.point });
}

async function unmountOfPod(host: HostPorts, mounter: Effects["mounter"], { mount, place }: Proved): Promise<void> {
  const { prefix } = place;
  const path = mount.point;
  const own = (await host.mountTable.read()).at(path);
  if (own === undefined) throw new VolumeError("TargetChanged", "transient", `nothing is mounted at ${path} any more`);
  try {
    await mounter.unmount({ prefix, path }, own.id, "Normal", own.uniqueID);
  } catch (error) {
    throw await withUsers(error, { host }, path);
  }
}

async function unstage({ traces, drivers }: ReapActionDeps, { mount, place }: Proved): Promise<void> {
  if (place.kind !== "Staging") return;
  const driver = drivers.driver(place.driver);
  const volumeID = await handleOf(traces, place);
  if (driver === undefined || volumeID === undefined) {
    throw new VolumeError(
      "DriverNotRegistered",
      "transient",
      `the CSI driver ${place.driver} went, or what kubelet knows of the volume`,
    );
  }
  await driver.node.unstage({ volumeID, stagingPath: mount.point });
}

/** A mount that another namespace has on it would be detached with it: then it stays. */
async function removePoint(
  host: HostPorts,
  mounter: Effects["mounter"],
  target: { readonly prefix: string; readonly path: string },
): Promise<void> {
  const point = (await host.mountTable.read()).identityOf(target.path);
  if (point === undefined || (await host.evidence.mountedOn(point)).length > 0) return;
  await mounter.removeTarget(target, "directory");
}

function joined(root: string, prefix: string, path: string) {
  return { prefix: joinPath(root, prefix.slice(1)), path: joinPath(root, path.slice(1)) };
}
