import { hasDots } from "../../../api/values/path.ts";
import { isLocalMount } from "../../mount-table/may-block.ts";
import { type MountTable, relativePath } from "../../mount-table/mount-table.ts";
import type { MountEntry } from "../../mount-table/mountinfo.ts";
import { AT_EMPTY_PATH, AT_FDCWD, AT_STATX_DONT_SYNC, E, O, RESOLVE } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { Errno } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";

const beneath = RESOLVE.BENEATH | RESOLVE.NO_SYMLINKS | RESOLVE.NO_MAGICLINKS;
const inOneMount = beneath | RESOLVE.NO_XDEV;

/**
 * Opens an absolute path, without opening the file itself (O_PATH), through no other mounts than the local ones that
 * the table shows on the way. The table may not know yet where a mount is: the kernel tells nobody that a directory
 * above it was renamed, and a walk into one whose server is gone never ends. So each mount point is crossed by itself,
 * and only into the mount that the table has there.
 * @throws Errno ELOOP at a symbolic link; EXDEV if something else is mounted on the way, or it cannot be told
 */
export function openKnown(libc: Libc, path: string, table: MountTable): Descriptor {
  if (hasDots(path)) throw unknownMount(path);
  const crossed = table.crossed(path);
  if (crossed.some((mount) => !isLocalMount(table, mount))) throw unknownMount(path);
  using stack = new DisposableStack();
  let current = stack.use(new Descriptor(libc.openat2(AT_FDCWD, "/", O.PATH | O.DIRECTORY | O.CLOEXEC, 0, 0)));
  let at = crossed.findIndex((mount) => isIn(libc, current, mount));
  let mount = crossed[at];
  if (mount === undefined || mount.point !== "/") throw unknownMount(path);
  let enter: () => Descriptor = () => step(libc, current, "", inOneMount);
  for (let next = topAfter(crossed, at); next !== undefined; next = topAfter(crossed, at)) {
    const above = next.point.slice(0, Math.max(1, next.point.lastIndexOf("/")));
    const parent = stack.use(step(libc, current, relativePath(mount.point, above), inOneMount));
    const name = next.point.slice(next.point.lastIndexOf("/") + 1);
    enter = () => step(libc, parent, name, beneath); // by its name: what is mounted may be a file, which has no "."
    current = stack.use(enter());
    if (!isIn(libc, current, next)) throw unknownMount(path);
    mount = next;
    at = crossed.indexOf(next);
  }
  const rest = relativePath(mount.point, path);
  if (rest !== "") return step(libc, current, rest, inOneMount);
  const found = enter();
  if (isIn(libc, found, mount)) return found;
  found[Symbol.dispose]();
  throw unknownMount(path);
}

/** The next mount on the way that a walk comes into: of several on one point the last. */
function topAfter(crossed: readonly MountEntry[], at: number): MountEntry | undefined {
  const next = crossed[at + 1];
  return next && crossed.findLast(({ point }) => point === next.point);
}

function step(libc: Libc, from: Descriptor, relative: string, resolve: number): Descriptor {
  return new Descriptor(libc.openat2(from.fd, relative === "" ? "." : relative, O.PATH | O.CLOEXEC, 0, resolve));
}

function isIn(libc: Libc, file: Descriptor, { id, uniqueID }: MountEntry): boolean {
  if (uniqueID === undefined) return libc.statx(file.fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC).mountID === id;
  return Number(libc.mounts.uniqueOf(file)) === uniqueID;
}

function unknownMount(path: string): Errno {
  return new Errno("openat2", E.XDEV, path);
}
