// The few system calls that the scripts need and Node does not have.
import { closeSync, openSync } from "node:fs";
import koffi from "koffi";
import { LOCK, SYS } from "../../src/host/linux/syscall/constants.ts";

const libc = koffi.load(null);
const prctl = libc.func("int prctl(int option, unsigned long argument, long, long, long)");
const syscall = libc.func("long syscall(long number, long first, long second)");
const flock = libc.func("int flock(int fd, int operation)");

const socket = libc.func("int socket(int domain, int type, int protocol)");
const ioctl = libc.func("int ioctl(int fd, ulong request, void *argument)");

const PR_SET_PDEATHSIG = 1;
/** netdevice(7); the same on all architectures of Linux that Node runs on. */
const [AF_INET, SOCK_DGRAM, SIOCSIFFLAGS, IFF_UP] = [2, 2, 0x8914, 1];
const ifreqSize = 40;
const interfaceNameSize = 16;

/** Has the kernel kill this process when the thread that started it ends, however it ends. */
export function killMeWithMyParent(): void {
  if (prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0) !== 0) throw new Error("prctl(PR_SET_PDEATHSIG) failed");
}

/** Turns on the loopback interface of the own network namespace: a new one has it turned off (netdevice(7)). */
export function bringLoopbackUp(): void {
  const fd: number = socket(AF_INET, SOCK_DGRAM, 0);
  const request = Buffer.alloc(ifreqSize);
  request.write("lo");
  request.writeInt16LE(IFF_UP, interfaceNameSize);
  const failed = fd < 0 || ioctl(fd, SIOCSIFFLAGS, request) !== 0;
  if (fd >= 0) closeSync(fd);
  if (failed) throw new Error("the loopback interface could not be turned on");
}

/** A descriptor that becomes readable when the process ends; undefined if there is no such process. */
export function openPidfd(pid: number): number | undefined {
  const fd = Number(syscall(SYS.pidfd_open, pid, 0));
  return fd < 0 ? undefined : fd;
}

/** Calls `action` once, when the process behind a pidfd ends. Keeps the event loop alive no longer than needed. */
export function onPidfdExit(fd: number, action: () => void): void {
  const poll = koffi.node.poll(fd, { readable: true }, () => {
    poll.stop();
    action();
  });
  poll.unref();
}

/** Takes the lock of a file, made if missing, without waiting. @returns how to give it back; undefined if it is held */
export function tryLock(path: string): (() => void) | undefined {
  const fd = openSync(path, "a", 0o600);
  if (flock(fd, LOCK.EX | LOCK.NB) === 0) return () => closeSync(fd);
  closeSync(fd);
  return undefined;
}
