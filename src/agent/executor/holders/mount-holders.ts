import { listed } from "../../../api/values/listed.ts";
import { quoted } from "../../../api/values/printable.ts";
import { VolumeError, type WaitingOn } from "../../../errors.ts";
import { type Blocker, mostHolders } from "../../../host/ports/evidence.ts";
import type { Effects, Holder } from "../../../host/ports/host-ports.ts";
import type { ActionContext } from "../operation-context.ts";

/** How many of those who hold something are named. */
const fewest = 5;

/** Adds to a busy unmount who uses the mount: processes, what is mounted beneath it, the kernel itself. */
export async function withUsers(error: unknown, context: Pick<ActionContext, "host">, path: string): Promise<unknown> {
  if (!(error instanceof VolumeError) || error.reason !== "TargetBusy") return error;
  const { evidence, mountTable } = context.host;
  const users = await evidence.users(path);
  const table = await mountTable.read();
  const mount = table.at(path);
  const beneath = (mount === undefined ? [] : table.childrenOf(mount.id)).map(
    ({ point, fsType, source }): Blocker => ({ kind: "Mount", name: point, detail: `${fsType} (${source})` }),
  );
  const others = [...beneath, ...(await evidence.kernelUsers(path))];
  const parts = [
    ...(users.length === 0 ? [] : [`in use by ${names(users)}`]),
    ...(others.length === 0 ? [] : [`kept by ${listed(others.map(described), fewest)}`]),
  ];
  const message = parts.length === 0 ? "in use, but by nothing that can be seen" : parts.join("; ");
  const [first] = users;
  const [other] = others;
  const on = first !== undefined ? processOf(first) : { kind: other?.kind ?? "Mount", name: other?.name ?? path };
  const options = { cause: error, on, heldBy: pids(users) };
  return new VolumeError("TargetBusy", error.errorClass, `${path} is ${message}`, options);
}

/** Processes whose end may let a mount or device go; one that shows it to everybody on the node is no cause. */
function pids(holders: readonly Holder[]): number[] {
  return holders.flatMap(({ pid, onNode }) => (onNode === true ? [] : (pid ?? [])));
}

/** The error of an operation that waits until these have released the volume. */
export function heldBy(
  reason: "StillReferenced" | "DeviceBusy",
  message: string,
  holders: readonly Holder[],
): VolumeError {
  const [first] = holders;
  const on = first && processOf(first);
  return new VolumeError(reason, "transient", message, { ...(on && { on }), heldBy: pids(holders) });
}

/** @throws VolumeError DeviceBusy while a device has an exclusive claim: a mount, swap, or a device made of it */
export async function refuseClaimed(
  devices: Effects["devices"],
  { path, node, number }: { readonly path: string; readonly node: string; readonly number: string },
): Promise<void> {
  const claim = await devices.claim(node, number);
  if (claim === undefined) return;
  throw new VolumeError("DeviceBusy", "transient", claim, { on: { kind: "Device", name: path } });
}

/** @throws VolumeError DeviceBusy while any process has a device open */
export async function refuseOpen(
  devices: Effects["devices"],
  { path, number }: { readonly path: string; readonly number: string },
): Promise<void> {
  const openers = await devices.openers(number);
  if (openers.length > 0)
    throw heldBy("DeviceBusy", `${path} is open: ${names(openers)}. End these processes`, openers);
}

/** The first few of several processes. */
export function names(holders: readonly Holder[]): string {
  const texts = holders.map(
    (holder) => `${nameOf(holder)} at ${quoted(holder.mountPoint)}${holder.use ? ` (${holder.use})` : ""}`,
  );
  return listed(texts, fewest, holders.length < mostHolders);
}

/** A process, or a mount namespace without one, as what is waited for. */
function processOf(holder: Holder): WaitingOn {
  const { pid, command, namespace } = holder;
  if (pid === undefined) return { kind: "MountNamespace", name: namespace ?? "?" };
  return { kind: "Process", name: `${pid} (${quoted(command)})${placeOf(holder)}` };
}

function nameOf(holder: Holder): string {
  const { pid, command, namespace, unread, kept: by } = holder;
  if (pid !== undefined) return `pid ${pid} (${quoted(command)})${placeOf(holder)}`;
  const kept = `${by ?? "a file, which findmnt -t nsfs shows, or an open descriptor"} keeps it`;
  const who =
    unread === undefined
      ? `no process is in it: ${kept}`
      : `${listed(unread, fewest)} cannot be read: it is in it, or ${kept}`;
  return `mount namespace ${namespace} (${who})`;
}

/** Twelve digits of a container's id, as crictl and docker show it. */
function placeOf({ pod, container }: Holder): string {
  const inContainer = container === undefined ? "" : ` in container ${container.slice(0, 12)}`;
  return pod === undefined ? inContainer : `${inContainer} of pod ${pod}`;
}

function described({ kind, name, detail }: Blocker): string {
  switch (kind) {
    case "Mount":
      return `${detail ?? "something"} mounted beneath it at ${quoted(name)}`;
    case "Swap":
      return `swap on ${quoted(name)}`;
    case "LoopDevice":
      return `loop device ${name} of ${detail === undefined ? "a file on it" : quoted(detail)}`;
  }
}
