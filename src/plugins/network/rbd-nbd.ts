import type { RBDVolumeSource } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";
import type { NBDServed } from "../../host/ports/ceph.ts";
import { secretFile } from "../../host/ports/programs.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import type { TearDownContext } from "../api/teardown.ts";
import type { TearDownData } from "../api/teardown-data.ts";
import type { StageContext } from "../api/volume-plugin.ts";
import { cephArgs, cephKey } from "./ceph.ts";
import { awaitEnd, logOf } from "./fuse-client.ts";

/** Seconds for which what uses the volume waits for the next process, once the one that served it has ended. */
const waitsForNext = 120;

/** Seconds that rbd-nbd waits for a monitor; it may be asked twice. */
const monitorsAnswer = 15;

/** Where the image is on the node, and who serves it. */
export interface ServedImage {
  readonly device: string;
  readonly client: ChildProcessID;
}

/** What is on record of it: its device and process are found by the cookie. */
type Place = TearDownData & { readonly cookie: string; readonly image: string; readonly directory: string };

/** PURE. Of all agents that there may be on the node, this one alone has a volume with this directory. */
export function placeOf(image: string, directory: string): Place {
  return { cookie: directory, image, directory };
}

/** PURE. */
export function placeIn(undo: TearDownData | undefined): Place | undefined {
  const { cookie, image, directory } = undo ?? {};
  return cookie === undefined || image === undefined || directory === undefined
    ? undefined
    : { cookie, image, directory };
}

/** PURE. The same while no device of it is on record: nobody can have written to the image by it. */
export function unused(place: Place): TearDownData {
  return { ...place, unused: "true" };
}

/** PURE. */
export function isUnused(undo: TearDownData | undefined): boolean {
  return undo?.["unused"] !== undefined;
}

/**
 * Has the image served by a process that goes on when the agent ends.
 *
 *   device, process   nothing to do
 *   device alone      its process has ended, and what uses it waits: another one takes over, with the same device
 *   process alone     it was cut off, or would make a device behind our back: killed, and begun anew
 *
 * @param there what there is of it now
 */
export async function serve(
  place: Place,
  there: NBDServed,
  source: RBDVolumeSource,
  context: StageContext,
): Promise<ServedImage> {
  const { nbd, clients, directories } = context;
  const { cookie, image, directory } = place;
  let { device, client } = there;
  if (device === undefined || client === undefined) {
    if (client !== undefined) await clients.kill(client);
    await directories.make(directory, 0o700);
    const secret = cephKey(context.content?.[0], source);
    const { monitors } = source;
    await nbd.serve({ cookie, monitors, image, args: nbdArgs(source, image), secret, log: logOf(directory) }, device);
    ({ device, client } = await nbd.find(cookie));
  }
  if (device !== undefined && client !== undefined) return { device, client };
  if (client !== undefined) await clients.kill(client);
  const message =
    client === undefined
      ? `rbd-nbd, which is to serve ${image}, has ended at once`
      : `the node's kernel does not show which of its devices is ${image}: it needs Linux 5.14 or later, or remove client`;
  throw new VolumeError("SetUpFailed", "transient", message, { on: { kind: "Server", name: image } });
}

/**
 * Once nobody has the device any more: it is taken away, and its process writes what is left. Where the ladder allows
 * more than an ordinary unmount, one that has not ended by the next attempt is killed: its cluster may be gone. One of
 * a device that nobody has used has nothing to write, and may wait for its cluster for ever.
 */
export async function endServing(
  { cookie, directory }: Place,
  context: TearDownContext,
  nobodyUsed: boolean,
): Promise<void> {
  const { nbd, clients, directories, unmountMode } = context;
  const { device, client } = await nbd.find(cookie);
  if (device !== undefined) await nbd.disconnect(cookie, device);
  if (client !== undefined && nobodyUsed) await clients.kill(client);
  else if (client !== undefined) {
    await awaitEnd(client, context).catch((error: unknown) => {
      if (unmountMode === "Normal" || device !== undefined) throw error;
      return clients.kill(client);
    });
  }
  const id = await directories.identify(directory);
  if (id !== undefined) await directories.discard(directory, id);
}

/** PURE. The Secret's key is read of a descriptor: an argument can be seen by everybody on the node. */
export function nbdArgs(source: RBDVolumeSource, image: string): string[] {
  return [
    ...cephArgs(source, secretFile),
    source.readOnly === true ? "--read-only" : "--exclusive",
    "--try-netlink",
    `--reattach-timeout=${waitsForNext}`,
    `--client-mount-timeout=${monitorsAnswer}`,
    image,
  ];
}
