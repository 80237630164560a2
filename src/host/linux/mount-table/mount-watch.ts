import { closeSync, openSync } from "node:fs";
import koffi from "koffi";
import type { Cancel } from "../../../ports.ts";
import { EPOLL } from "../syscall/constants.ts";
import { epoll_event } from "../syscall/layouts.ts";
import { checked } from "../syscall/libc.ts";

/** Room for one event, which is packed on x64 alone, and for a few. */
const room = { event: 16, events: 64 } as const;

/**
 * Calls `onChange` after a mount table has changed, and once as soon as no change is missed any more.
 *
 * The kernel raises EPOLLPRI on an open mountinfo (proc_pid_mounts(5)). libuv cannot ask for that alone: watched
 * directly, the file is readable at all times and spins. So an epoll with nothing but EPOLLPRI on mountinfo is nested
 * into libuv's, without a thread (an epoll is readable if one of its own is ready, epoll(7)). A change before libuv has
 * taken the descriptor in is lost, so that `onChange` is called after that in any case.
 * @param path a mountinfo file of /proc
 * @param events a descriptor that is readable after changes, too, and is read by somebody else
 * @throws Errno EMFILE and the like; nothing stays open then
 */
export function watchMountTable(path: string, events: number | undefined, onChange: () => void): Cancel {
  const epoll = loadEpoll();
  using opened = new DisposableStack();
  const mountinfo = openSync(path, "r");
  opened.defer(() => closeSync(mountinfo));
  const epfd = epoll.create();
  opened.defer(() => closeSync(epfd));
  epoll.add(epfd, mountinfo, EPOLL.PRI);
  if (events !== undefined) epoll.add(epfd, events, EPOLL.IN + EPOLL.ET);
  const handle = koffi.node.poll(epfd, { readable: true }, () => {
    epoll.drain(epfd);
    onChange();
  });
  opened.defer(() => handle.close());
  const all = opened.move();
  setImmediate(() => {
    if (!all.disposed) onChange();
  });
  return () => all.dispose();
}

function loadEpoll() {
  const lib = koffi.load(null);
  const create = lib.func("int epoll_create1(int flags)");
  const ctl = lib.func("int epoll_ctl(int epfd, int op, int fd, void *event)");
  const wait = lib.func("int epoll_wait(int epfd, void *events, int maxevents, int timeout)");
  return {
    create: (): number => checked("epoll_create1", create(EPOLL.CLOEXEC)),
    add(epfd: number, fd: number, events: number): void {
      const event = Buffer.alloc(room.event);
      event.writeUInt32LE(events, epoll_event.events);
      checked("epoll_ctl", ctl(epfd, EPOLL.CTL_ADD, fd, event));
    },
    /** Takes the event, which arms the file for the next change. */
    drain(epfd: number): void {
      checked("epoll_wait", wait(epfd, Buffer.alloc(room.events), room.events / room.event, 0));
    },
  };
}
