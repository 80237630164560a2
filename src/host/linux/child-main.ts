import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { printable } from "../../api/values/printable.ts";
import { messageOf, VolumeError } from "../../errors.ts";
import {
  type ChildError,
  type ChildHandlers,
  type ChildReply,
  type ChildRequest,
  refusedCode,
} from "./child/child-protocol.ts";
import { execProgram, leaveIfItCan } from "./child/exec-program.ts";
import { writeOf } from "./child/expected-device.ts";
import { progressMark } from "./child/fetching-child.ts";
import { processOfRoot } from "./child/processes.ts";
import { startConfined } from "./child/start-confined.ts";
import { isClaimed, probeBlockDevice } from "./device/block-probe.ts";
import { possibleKernelUsers, usersOf } from "./device/device-users.ts";
import { wipe } from "./device/device-writes.ts";
import { checkAs, formatAs, prepare, refusing } from "./device/held-device.ts";
import { enterNamespace } from "./evidence/entered-namespace.ts";
import { usersOf as usersOfMount } from "./evidence/mount-users.ts";
import { openersOf } from "./evidence/open-devices.ts";
import { remoteMounts, remoteMountsSeen } from "./evidence/remote-mounts.ts";
import { emptyTrash } from "./files/empty-trash.ts";
import { setVolumeOwnership } from "./files/set-volume-ownership.ts";
import { enterGitSandbox } from "./git/git-sandbox.ts";
import { enterImageSandbox } from "./mount/image-sandbox.ts";
import { InProcessMounter } from "./mount/in-process-mounter.ts";
import { nbdClientOnNode } from "./rbd/nbd-clients.ts";
import { runISCSI } from "./scsi/iscsi-child.ts";
import { removeScsiDisk } from "./scsi/scsi-remove.ts";
import { errnoOf } from "./syscall/errno.ts";
import { loadLibc } from "./syscall/libc.ts";
import { ownMounts } from "./syscall/proc.ts";
import { loadSandboxCalls } from "./syscall/sandbox-calls.ts";

/** mkfs and e2fsck have the device as their input (held-device.ts). */
const itsInput = "/proc/self/fd/0";

const handlers: ChildHandlers = {
  async exec(request) {
    const { file, args, device, input, meant, outlives, heavy } = request;
    const left = outlives === undefined || leaveIfItCan(outlives.hostRoot);
    await prepare(device, input, meant);
    return () => execProgram(file, args, { ...request, bounded: heavy === true && !left });
  },
  async format({ device, contents, file, args }) {
    await formatAs(device, contents);
    return () => execProgram(file, [...args, itsInput]);
  },
  async check({ device, file, args }) {
    await checkAs(device);
    return () => execProgram(file, [...args, itsInput]);
  },
  async wipe({ device, digest }) {
    wipe(device, digest, await refusing());
  },
  async probe({ path }) {
    const libc = loadLibc();
    const remote = await remoteMountsSeen();
    return probeBlockDevice(path, (device) => usersOf(libc, device, remote));
  },
  claimed({ path, deviceNumbers }) {
    const inKernel = possibleKernelUsers(deviceNumbers, path, ownMounts());
    return { claimed: isClaimed(path), ...(inKernel && { inKernel: inKernel.text }) };
  },
  openers: async ({ deviceNumbers }) => openersOf(loadLibc(), deviceNumbers, process.ppid, await remoteMounts()),
  users: ({ mountPoint }) => usersOfMount(loadLibc(), mountPoint),
  enterNamespace: ({ path }) => enterNamespace(path, loadSandboxCalls()),
  removeDisk: async ({ disk }) => removeScsiDisk(loadLibc(), disk, await remoteMounts()),
  sysfs: ({ file, text }) => writeFileSync(file, text),
  iscsi: ({ request }) => runISCSI(request),
  rbd: ({ meant, file, text }) => writeOf(meant, file, text),
  nbdClient: ({ query }) => nbdClientOnNode(query, loadLibc(), loadSandboxCalls()),
  client: ({ pid, pidFile }) => processOfRoot(pid, { has: (args) => args.some((arg) => arg.endsWith(pidFile)) }),
  emptyTrash: ({ path }) => emptyTrash(loadLibc(), path),
  giveToGroup({ request, agent }) {
    const tell = whileItLives(agent, (entries: number) => process.stdout.write(`${entries}\n`));
    return setVolumeOwnership(loadLibc(), request, tell);
  },
  // Only now: TLS and what unpacks take a third of the time in which every other child starts.
  async checkOut(asked) {
    if (asked.confined !== true) {
      enterGitSandbox(loadLibc(), loadSandboxCalls(), asked.request);
      return startConfined(asked);
    }
    const tell = whileItLives(asked.agent, tellProgress);
    return (await import("./git/check-out.ts")).checkOut(loadLibc(), asked.request, tell);
  },
  async unpack(asked) {
    if (asked.confined !== true) {
      const request = enterImageSandbox(loadLibc(), loadSandboxCalls(), asked.request);
      return startConfined({ ...asked, request });
    }
    const tell = whileItLives(asked.agent, tellProgress);
    return (await import("./image/unpack-image.ts")).unpackImage(loadLibc(), asked.request, tell);
  },
  mounter({ method, args }) {
    const mounter = new InProcessMounter(loadLibc(), "followLinks");
    return (mounter[method] as (...args: readonly unknown[]) => Promise<unknown>).apply(mounter, [...args]);
  },
};

/**
 * The role `child`: reads one request from stdin, and carries it out. It writes the reply to stdout, or becomes the
 * program that was asked for.
 * @returns the code with which to exit at once: a Node whose input was replaced (held-device.ts) aborts at its own end
 */
export async function runChild(): Promise<number> {
  const request = await readRequest();
  if (request === undefined) return 0; // the parent died before it said what to do
  let reply = await replyOf(handlers[request.kind] as (request: ChildRequest) => unknown, request);
  if (reply.ok && typeof reply.value === "function") reply = await replyOf(reply.value as () => never, request);
  process.stdout.write(`${JSON.stringify(reply)}\n`); // replyIn reads it
  if (reply.ok && request.kind === "enterNamespace") await inputEnds();
  return reply.ok ? 0 : refusedCode;
}

async function inputEnds(): Promise<void> {
  process.stdin.resume();
  if (!process.stdin.readableEnded) await once(process.stdin, "end");
}

async function replyOf(handle: (request: ChildRequest) => unknown, request: ChildRequest): Promise<ChildReply> {
  try {
    return { ok: true, value: await handle(request) };
  } catch (error) {
    const code = errnoOf(error);
    const known = error instanceof VolumeError ? knownOf(error) : {};
    return { ok: false, error: { message: messageOf(error), ...known, ...(code !== undefined && { code }) } };
  }
}

function tellProgress(line: string): void {
  process.stdout.write(`${progressMark}${printable(line)}\n`);
}

/**
 * Tells at most once a second: who reads it is the agent, whose sign it also is that the work goes on. An agent that
 * was killed takes no child with it, and the next one does nothing for the volume as long as this one is at work, hours
 * perhaps: the work ends at its next sign of life, and is begun again.
 */
function whileItLives<T>(agent: number, tell: (what: T) => void): (what: T) => void {
  let last = performance.now();
  return (what) => {
    if (process.ppid !== agent) throw new Error("the agent that asked for it is gone");
    if (performance.now() - last < 1_000) return;
    last = performance.now();
    tell(what);
  };
}

function knownOf({ reason, errorClass, on, heldBy }: VolumeError): Partial<ChildError> {
  return { reason, errorClass, ...(on && { on }), heldBy };
}

async function readRequest(): Promise<ChildRequest | undefined> {
  for await (const line of createInterface({ input: process.stdin })) return JSON.parse(line) as ChildRequest;
  return undefined;
}
