"""Somebody else on the node, who has disks: opens, maps, mounts and writes to them. One JSON object a line is asked, one is answered.

It is also the checker's eye: it reads the files that the disks are made of, and nothing of the code under test.
"""
import ctypes, errno, fcntl, hashlib, json, mmap, os, random, signal, subprocess, sys, time

LOOP_SET_FD, LOOP_CLR_FD, LOOP_CTL_ADD, LOOP_CTL_REMOVE = 0x4C00, 0x4C01, 0x4C80, 0x4C81
CLONE_NEWNS, MS_RDONLY, MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 0x20000, 1, 4096, 16384, 1 << 18, 2
PAGE, ZEROS = 4096, bytes(4096)
libc = ctypes.CDLL(None, use_errno=True)
open_files, maps, children = {}, {}, {}
loops = set()
count = 0
OWN_LOOPS = 64
FIRST_LOOP = 1000 + random.randrange(5000) * OWN_LOOPS


def keep(table, thing):
    global count
    count += 1
    table[count] = thing
    return count


def call(name, *args):
    if getattr(libc, name)(*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def make(path, size):
    with open(path, "wb") as file:
        file.truncate(size)


def attach(path, device=None):
    """A loop device of a file, or of a block device: the one that is named, or else the first of our own that is free."""
    backing = os.open(path, os.O_RDWR)
    try:
        for number in range(FIRST_LOOP, FIRST_LOOP + OWN_LOOPS):
            node = device or own_loop(number)
            loop = os.open(node, os.O_RDWR)
            try:
                fcntl.ioctl(loop, LOOP_SET_FD, backing)
                return node
            except OSError as error:
                if error.errno != errno.EBUSY or device:
                    raise
            finally:
                os.close(loop)
        raise OSError(errno.EBUSY, "no loop device is free")
    finally:
        os.close(backing)


def own_loop(number):
    """Nobody else looks for free ones up here: while two are exchanged, none of them is taken."""
    if number not in loops:
        control = os.open("/dev/loop-control", os.O_RDWR)
        fcntl.ioctl(control, LOOP_CTL_ADD, number)
        os.close(control)
        loops.add(number)
    return f"/dev/loop{number}"


def no_loops():
    """Also those that a world left which came to no end."""
    control = os.open("/dev/loop-control", os.O_RDWR)
    for number in loops:
        clear(f"/dev/loop{number}")
    for number in loops:
        try:
            detach(f"/dev/loop{number}")
            fcntl.ioctl(control, LOOP_CTL_REMOVE, number)
        except OSError as error:
            print(f"loop{number} stays: {error}", file=sys.stderr)
    os.close(control)


def clear(device):
    loop = os.open(device, os.O_RDONLY)
    try:
        fcntl.ioctl(loop, LOOP_CLR_FD)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
    finally:
        os.close(loop)


def detach(device):
    clear(device)
    # The kernel lets it go when the last who has it open closes it: a moment later.
    backing = f"/sys/block/{os.path.basename(device)}/loop/backing_file"
    until = time.monotonic() + 10
    while os.path.exists(backing):
        if time.monotonic() > until:
            raise OSError(errno.EBUSY, f"{device} is not let go")
        time.sleep(0.001)


def exchange(first, second, first_file, second_file):
    """Two devices change what they are made of: the names of two disks are swapped."""
    detach(first)
    detach(second)
    attach(second_file, first)
    attach(first_file, second)


def open_as(device, how):
    flags = {"reads": os.O_RDONLY, "writes": os.O_RDWR, "claims": os.O_RDWR | os.O_EXCL, "maps": os.O_RDWR}[how]
    file = os.open(device, flags)
    if how != "maps":
        return keep(open_files, file)
    mapped = mmap.mmap(file, PAGE)
    mapped.madvise(mmap.MADV_DONTFORK)
    os.close(file)
    return keep(maps, mapped)


def close(id):
    if id in open_files:
        os.close(open_files.pop(id))
    elif id in maps:
        maps.pop(id).close()
    else:
        pid = children.pop(id)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def write(device, at, data, id=None):
    file = open_files[id] if id in open_files else os.open(device, os.O_RDWR)
    try:
        os.pwrite(file, bytes.fromhex(data), at)
        os.fsync(file)
    finally:
        if id not in open_files:
            os.close(file)


def copy(path, device, at=0):
    """What stands in a file, but for what is nothing but zeros."""
    target = os.open(device, os.O_RDWR)
    try:
        for offset, page in pages(path):
            os.pwrite(target, page, at + offset)
        os.fsync(target)
    finally:
        os.close(target)


def forget_nodes():
    """What the agent has mounted ends when the agent unmounts it: this namespace keeps no copy."""
    with open("/proc/self/mountinfo") as table:
        points = [line.split()[4] for line in table]
    for point in points:
        if os.path.basename(point).startswith("nvo-node-"):
            call("umount2", point.encode(), MNT_DETACH)


def mount_hidden(device, kind, point, reads):
    """Mounts in a namespace that nobody else is in: no table of the agent's shows it, and no process has the device open."""
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        for file in [*open_files.values(), 0, 1, ready]:
            os.close(file)
        try:
            call("unshare", CLONE_NEWNS)
            call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
            forget_nodes()
            call("mount", device.encode(), point.encode(), kind.encode(), MS_RDONLY if reads else 0, None)
            os.write(told, b"ok")
        except BaseException as error:
            os.write(told, str(error).encode())
        while True:
            signal.pause()
    os.close(told)
    said = os.read(ready, 1000)
    os.close(ready)
    id = keep(children, pid)
    if said != b"ok":
        close(id)
        raise OSError(errno.EBUSY, said.decode())
    return id


def bind(source, point):
    open(point, "w").close()
    call("mount", source.encode(), point.encode(), None, MS_BIND, None)


def unbind(point):
    call("umount2", point.encode(), MNT_DETACH)
    os.unlink(point)


def pages(path, begin=0, end=None):
    """Pages that are not nothing but zeros, and where they are."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)  # who has a device mounted writes past its cache
        size = os.lseek(file, 0, os.SEEK_END)
        end = size if end is None else end
        sparse = not path.startswith("/dev/")
        at = begin
        while at < end:
            stop = end
            if sparse:
                try:
                    at = max(begin, os.lseek(file, at, os.SEEK_DATA))
                except OSError:
                    return
                stop = min(end, os.lseek(file, at, os.SEEK_HOLE))
            while at < stop:
                block = os.pread(file, min(64 * PAGE, stop - at), at)
                if not block:
                    return
                if block.count(0) != len(block):
                    for inner in range(0, len(block), PAGE):
                        page = block[inner : inner + PAGE]
                        if page != ZEROS[: len(page)]:
                            yield at + inner, page
                at += len(block)
    finally:
        os.close(file)


def sync(device):
    file = os.open(device, os.O_RDONLY)
    os.fsync(file)
    os.close(file)


def digest(path, begin, end):
    """Of all that is not zeros, and where it stands."""
    found = hashlib.sha1()
    for at, page in pages(path, begin, end):
        found.update(at.to_bytes(8, "big"))
        found.update(page)
    return found.hexdigest()


def part(path, at, length):
    file = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        return hashlib.sha1(os.pread(file, length, at)).hexdigest()
    finally:
        os.close(file)


def look(disks):
    """What is on disks: all of it, and each place at which somebody has data."""
    for disk in disks:
        sync(disk["device"])
    return [
        {
            "whole": digest(disk["path"], disk["begin"], disk["end"]),
            "parts": [part(disk["path"], at, length) for at, length in disk["places"]],
        }
        for disk in disks
    ]


def find(path, text):
    """Where a text begins that stands at the beginning of a block of 1 KiB."""
    wanted = bytes.fromhex(text)
    for at, page in pages(path):
        for inner in range(0, PAGE, 1024):
            if page.startswith(wanted, inner):
                return at + inner
    return None


def zram(size):
    number = open("/sys/class/zram-control/hot_add").read().strip()
    with open(f"/sys/block/zram{number}/disksize", "w") as file:
        file.write(str(size))
    return f"/dev/zram{number}"


def no_zram(device):
    with open("/sys/class/zram-control/hot_remove", "w") as file:
        file.write(device.removeprefix("/dev/zram"))


def partition(device, start, length):
    told = subprocess.run(["addpart", device, "1", str(start // 512), str(length // 512)], stderr=subprocess.DEVNULL)
    if told.returncode != 0:
        raise OSError(errno.EBUSY, f"{device} gets no partition")
    return f"{device}p1"


def no_partition(device):
    subprocess.run(["delpart", device, "1"], check=True)


asked = {
    name: globals()[name]
    for name in (
        "make attach detach exchange open_as close write copy mount_hidden bind unbind look find zram no_zram"
        " partition no_partition"
    ).split()
}
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = {"value": asked[request.pop("ask")](**request)}
    except OSError as error:
        answer = {"errno": errno.errorcode.get(error.errno, "?"), "message": str(error)}
    print(json.dumps(answer), flush=True)
for id in [*children, *open_files, *maps]:
    close(id)
no_loops()
