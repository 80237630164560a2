import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { printable } from "../../api/values/printable.ts";
import { messageOf, VolumeError } from "../../errors.ts";
import type { Mounter } from "../ports/host-ports.ts";
import { become, leaveIfItCan } from "./child/become.ts";
import type { ChildError, ChildReply, ChildRequest } from "./child/child-protocol.ts";
import { refusedCode } from "./child/child-runner.ts";
import { progressMark } from "./child/fetching-child.ts";
import { processOfRoot } from "./child/process-of-root.ts";
import { refusalText } from "./child/refusal.ts";
import { startConfined } from "./child/start-confined.ts";
import { isClaimed, probeBlockDevice } from "./device/block-probe.ts";
import { kernelText, usersOf } from "./device/device-users.ts";
import { wipe } from "./device/device-writes.ts";
import { checkAs, formatAs, prepare, refusing } from "./device/held-device.ts";
import { stayInNamespace } from "./evidence/entered-namespace.ts";
import { usersOf as usersOfMount } from "./evidence/mount-users.ts";
import { openersOf } from "./evidence/open-devices.ts";
import { remoteMounts, remoteMountsSeen } from "./evidence/remote-mounts.ts";
import { emptyTrash } from "./files/empty-trash.ts";
import { setVolumeOwnership } from "./files/set-volume-ownership.ts";
import { InProcessMounter } from "./mount/in-process-mounter.ts";
import { writeOf } from "./rbd/meant-device.ts";
import { nbdClientOnNode } from "./rbd/nbd-clients.ts";
import { runISCSI } from "./scsi/iscsi-child.ts";
import { removeScsiDisk } from "./scsi/scsi-remove.ts";
import { errnoOf } from "./syscall/errno.ts";
import { loadLibc } from "./syscall/libc.ts";
import { ownMounts } from "./syscall/own-mountinfo.ts";
import { loadSandboxCalls } from "./syscall/sandbox-calls.ts";

/** Reply to `claimed`. */
export interface Claimed {
  readonly claimed: boolean;
  /** Who in the kernel has it, or a partition of it, without a claim (kernelText). */
  readonly inKernel?: string;
}

/** The role `child`: reads one request from stdin, carries it out, writes the reply to stdout. */
export async function runChild(): Promise<void> {
  const request = await readRequest();
  if (request === undefined) return; // the parent died before it said what to do
  if (request.kind === "exec") {
    const { file, args, device, input, meant, outlives, heavy } = request;
    const left = outlives === undefined || leaveIfItCan(outlives.hostRoot);
    if (!(await refused(() => prepare(device, input, meant))))
      become(file, args, { ...request, bounded: heavy === true && !left });
    return;
  }
  if (request.kind === "format") {
    const { device, contents, file, args } = request;
    if (!(await refused(() => formatAs(device, contents)))) become(file, [...args, "/proc/self/fd/0"]);
    return;
  }
  if (request.kind === "check") {
    const { device, file, args } = request;
    if (!(await refused(() => checkAs(device)))) become(file, [...args, "/proc/self/fd/0"]);
    return;
  }
  if (request.kind === "wipe") {
    await refused(async () => wipe(request.device, request.digest, await refusing()));
    return;
  }
  if (request.kind === "probe") {
    const libc = loadLibc();
    const reply = await replyOf(async () => {
      const remote = await remoteMountsSeen();
      return probeBlockDevice(request.path, (device) => usersOf(libc, device, remote));
    });
    process.stdout.write(JSON.stringify(reply));
    return;
  }
  if (request.kind === "removeDisk") {
    const remote = await remoteMounts();
    return orSaid(() => refused(() => removeScsiDisk(loadLibc(), request.disk, remote)));
  }
  if (request.kind === "iscsi") {
    process.stdout.write(JSON.stringify(runISCSI(request.request)));
    return;
  }
  if (request.kind === "sysfs") {
    await orSaid(() => writeFileSync(request.file, request.text));
    return;
  }
  if (request.kind === "claimed") {
    const { path, deviceNumbers } = request;
    const inKernel = kernelText(deviceNumbers, path, ownMounts());
    const reply: Claimed = { claimed: isClaimed(path), ...(inKernel !== undefined && { inKernel }) };
    process.stdout.write(JSON.stringify(reply));
    return;
  }
  if (request.kind === "openers") {
    const holders = openersOf(loadLibc(), request.deviceNumbers, process.ppid, await remoteMounts());
    process.stdout.write(JSON.stringify(holders));
    return;
  }
  if (request.kind === "users") {
    process.stdout.write(JSON.stringify(await usersOfMount(loadLibc(), request.mountPoint)));
    return;
  }
  if (request.kind === "enterNamespace") return orSaid(() => stayInNamespace(request.path, loadSandboxCalls()));
  if (request.kind === "emptyTrash") {
    process.stdout.write(JSON.stringify(emptyTrash(loadLibc(), request.path)));
    return;
  }
  if (request.kind === "giveToGroup") {
    const tell = whileItLives(
      request.agent,
      tellEachSecond((entries: number) => process.stdout.write(`${entries}\n`)),
    );
    const reply = await replyOf(() => setVolumeOwnership(loadLibc(), request.request, tell));
    process.stdout.write(JSON.stringify(reply));
    return;
  }
  if (request.kind === "checkOut" || request.kind === "unpack") {
    if (request.confined !== true) {
      const failed = await replyOf(() => startConfined(request));
      process.stdout.write(JSON.stringify(failed));
      return;
    }
    const tell = whileItLives(
      request.agent,
      tellEachSecond((line: string) => process.stdout.write(`${progressMark}${printable(line)}\n`)),
    );
    // Only now: TLS and what unpacks take a third of the time in which every other child starts.
    const reply = await replyOf(async () =>
      request.kind === "checkOut"
        ? (await import("./git/check-out.ts")).checkOut(loadLibc(), request.request, tell)
        : (await import("./image/unpack-image.ts")).unpackImage(loadLibc(), request.request, tell),
    );
    process.stdout.write(JSON.stringify(reply));
    return;
  }
  if (request.kind === "rbd") {
    process.stdout.write(JSON.stringify(await replyOf(() => writeOf(request.meant, request.file, request.text))));
    return;
  }
  if (request.kind === "nbdClient") {
    process.stdout.write(JSON.stringify(nbdClientOnNode(request.query, loadLibc(), loadSandboxCalls()) ?? null));
    return;
  }
  if (request.kind === "client") {
    const has = (args: readonly string[]) => args.some((arg) => arg.endsWith(request.pidFile));
    process.stdout.write(JSON.stringify(processOfRoot(request.pid, { has }) ?? null));
    return;
  }
  const reply = await perform(new InProcessMounter(loadLibc(), "followLinks"), request);
  process.stdout.write(JSON.stringify(reply));
}

/** Carries out what may be refused; says so by the exit code. */
async function refused(act: () => unknown): Promise<boolean> {
  try {
    await act();
    return false;
  } catch (error) {
    if (!(error instanceof VolumeError)) throw error;
    process.stderr.write(refusalText(error));
    process.exitCode = refusedCode;
    return true;
  }
}

/** Carries out what fails by a system call: its text is enough for people. */
async function orSaid(act: () => unknown): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    process.stderr.write(messageOf(error));
    process.exitCode = 1;
  }
}

function perform(mounter: Mounter, request: { method: keyof Mounter; args: readonly unknown[] }): Promise<ChildReply> {
  const method = mounter[request.method] as (...args: readonly unknown[]) => Promise<unknown>;
  return replyOf(() => method.apply(mounter, [...request.args]));
}

/** At most once a second: who reads it is the agent, whose sign it also is that the work goes on. */
function tellEachSecond<T>(tell: (what: T) => void): (what: T) => void {
  let last = performance.now();
  return (what) => {
    if (performance.now() - last < 1_000) return;
    last = performance.now();
    tell(what);
  };
}

/**
 * An agent that was killed takes no child with it, and the next one does nothing for the volume as long as this one is
 * at work, hours perhaps: the work ends at its next sign of life, and is begun again.
 */
function whileItLives<T>(agent: number, tell: (what: T) => void): (what: T) => void {
  return (what) => {
    if (process.ppid !== agent) throw new Error("the agent that asked for it is gone");
    tell(what);
  };
}

async function replyOf(call: () => unknown): Promise<ChildReply> {
  try {
    return { ok: true, value: await call() };
  } catch (error) {
    const known = error instanceof VolumeError ? knownOf(error) : {};
    const code = errnoOf(error);
    return { ok: false, error: { message: messageOf(error), ...known, ...(code !== undefined && { code }) } };
  }
}

function knownOf({ reason, errorClass, on, heldBy }: VolumeError): Partial<ChildError> {
  return { reason, errorClass, ...(on && { on }), heldBy };
}

async function readRequest(): Promise<ChildRequest | undefined> {
  for await (const line of createInterface({ input: process.stdin })) return JSON.parse(line) as ChildRequest;
  return undefined;
}
