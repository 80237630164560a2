import { messageOf, VolumeError } from "../../errors.ts";
import { mountIdentity } from "../../host/mount-table/mount-table.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import type { TearDownContext } from "../api/teardown.ts";
import type { TearDownData } from "../api/teardown-data.ts";
import type { StageContext, Staged } from "../api/volume-plugin.ts";
import { refuseForeign } from "../staging.ts";

/** A file system that is served from user space, by a program of its own for each volume. */
export interface FuseVolume {
  /** As the mount table has it: `fuse.NAME`. */
  readonly fsType: string;
  readonly source: string;
  readonly program: string;
  /** What is said to the program, which is to mount on `target`, nosuid and nodev. */
  args(place: ClientPlace): readonly string[];
  /** What the program finds at `secretFile`. */
  readonly secret?: string;
  /** What its words mean, where they mean more than that a server is not to be had. */
  failure?(words: string): VolumeError | undefined;
}

/** The files of one FUSE client: its mount point, its pid file and its log. */
export interface ClientPlace {
  readonly target: string;
  readonly pidFile: string;
  readonly log: string;
}

/** Milliseconds that a client has, once unmounted, to write what is left, before people are told of it. */
const flushMs = 3_000;

/**
 * Mounts on the staging path by a client that goes on when the agent ends. One of before that runs and has mounted is
 * left as it is.
 *
 *   mounted, runs       nothing to do
 *   mounted, has ended  everybody gets ENOTCONN: unmounted, and mounted anew
 *   not mounted, runs   it was cut off, or would mount behind our back: killed, and mounted anew
 */
export async function stageByClient(volume: FuseVolume, context: StageContext): Promise<Staged> {
  const { stagingTarget: target, stagingMount, dataPath: directory, clients, mounter } = context;
  const { fsType, source, program } = volume;
  const { pidFile, log } = filesIn(directory);
  await context.record({ kind: "filesystem", path: target.path, undo: { directory } });
  refuseForeign(context, fsType);
  let client = await clients.running(pidFile);
  if (stagingMount === undefined || client === undefined) {
    if (stagingMount !== undefined) await mounter.unmount(target, stagingMount.id, "Lazy", stagingMount.uniqueID);
    if (client !== undefined) await clients.kill(client);
    await context.directories.make(directory, 0o700);
    await mounter.makeTarget(target, "directory");
    const args = volume.args({ target: target.path, pidFile, log });
    const secret = volume.secret === undefined ? {} : { secret: volume.secret };
    const mount = { fsType, source, point: target.path };
    client = await clients.start({ program, args, ...secret, pidFile, log, mount }).catch(async (error: unknown) => {
      const left = (await context.tableNow()).at(target.path); // some mount before they know whether they can
      if (left?.fsType === fsType) await mounter.unmount(target, left.id, "Lazy", left.uniqueID);
      throw meaningOf(volume, error);
    });
  }
  // Only an answer says that it serves the volume: one that is refused ends a moment after it has mounted.
  const answer = await answerOf(context);
  const mount = (await context.tableNow()).at(target.path);
  if (answer !== undefined || mount?.fsType !== fsType) {
    const words = (await clients.lastWords(log)) || answer || `${program} has not mounted it`;
    const on = { kind: "Server", name: source };
    throw new VolumeError("ServerUnreachable", "transient", `mounting ${source}: ${words}`, { on });
  }
  return { kind: "filesystem", path: target.path, fileKind: "directory", identity: mountIdentity(mount), client };
}

function meaningOf({ failure }: FuseVolume, error: unknown): unknown {
  return (error instanceof VolumeError && error.reason === "ServerUnreachable" && failure?.(error.message)) || error;
}

/**
 * @returns what went wrong; undefined: the volume answers.
 * @throws VolumeError TimedOut, OperationAbandoned: uncertain
 */
async function answerOf({ mounter, stagingTarget }: StageContext): Promise<string | undefined> {
  try {
    await mounter.sizeOf({ root: "/", path: stagingTarget.path });
    return undefined;
  } catch (error) {
    if (error instanceof VolumeError && error.errorClass === "uncertain") throw error;
    return messageOf(error);
  }
}

/**
 * Waits until the client has ended, as it does by itself when nothing shows its file system: it may write until then,
 * also what programs think was written when they closed their files.
 */
export async function endClient({ directory }: TearDownData, context: TearDownContext): Promise<void> {
  if (directory === undefined) return;
  const client = await context.clients.running(filesIn(directory).pidFile);
  if (client !== undefined) await awaitEnd(client, context);
  const id = await context.directories.identify(directory);
  if (id !== undefined) await context.directories.discard(directory, id);
}

/** @throws VolumeError StillReferenced, while it goes on */
export async function awaitEnd(client: ChildProcessID, { clients }: Pick<TearDownContext, "clients">): Promise<void> {
  if (await clients.ended(client, flushMs)) return;
  const message = `process ${client.pid}, which served the volume, has not ended: it may still write. Bring its server back; or kill it, and what it has not written is lost`;
  const on = { kind: "Process", name: `${client.pid}` };
  throw new VolumeError("StillReferenced", "transient", message, { on, heldBy: [client.pid] });
}

function filesIn(directory: string): Pick<ClientPlace, "pidFile" | "log"> {
  return { pidFile: `${directory}/client.pid`, log: logOf(directory) };
}

/** PURE. Where the client of a volume says what goes wrong. @param directory of its record (Undo) */
export function logOf(directory: string): string {
  return `${directory}/client.log`;
}
