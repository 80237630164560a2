import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, renameSync } from "node:fs";
import { expect } from "chai";
import koffi from "koffi";
import { attachExactly } from "../../src/host/linux/path/exact-attach.ts";
import { unmountExactly } from "../../src/host/linux/path/exact-unmount.ts";
import { type OpenTarget, openTarget } from "../../src/host/linux/path/walk.ts";
import { AT_EMPTY_PATH, MS, OPEN_TREE_CLOEXEC, OPEN_TREE_CLONE } from "../../src/host/linux/syscall/constants.ts";
import { Descriptor } from "../../src/host/linux/syscall/descriptor.ts";
import { Errno } from "../../src/host/linux/syscall/errno.ts";
import { type Libc, loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { loadMountLinks } from "../../src/host/linux/syscall/mount-links.ts";
import type { UnmountMode } from "../../src/host/ports/host-ports.ts";
import type { TargetPath } from "../../src/host/ports/types.ts";
import { refusing } from "../lib/fakes/refusing-queries.ts";
import { type Scratch, scratch } from "./scratch.ts";

const EOPNOTSUPP = 95;
const [ENOMEM, ENOSYS] = [12, 38];

describe("what comes between a look at a target and the call", () => {
  const libc = loadLibc();
  let place: Scratch;
  let target: TargetPath;

  beforeEach(() => {
    place = scratch();
    for (const name of ["src", "mnt/dir/target", "mnt/dir/other"])
      mkdirSync(`${place.path}/${name}`, { recursive: true });
    target = { prefix: `${place.path}/mnt`, path: `${place.path}/mnt/dir/target` };
  });
  afterEach(() => place[Symbol.dispose]());

  const foreign = (path: string) => execFileSync("mount", ["-t", "tmpfs", "foreign", path]);
  const sources = () => place.mounts().map(({ source }) => source);
  const cloneOf = (path: string) => {
    const clone = new Descriptor(libc.openTree(-100, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
    libc.mountSetattr(clone.fd, 0, 0, MS.PRIVATE);
    return clone;
  };

  function opened(): OpenTarget {
    const found = openTarget(libc, target);
    if (found === undefined) throw new Error("the target is missing");
    return found;
  }

  function attachAfter(change: () => void): unknown {
    using mount = cloneOf(`${place.path}/src`);
    using on = opened();
    change();
    try {
      attachExactly(libc, mount, on, target);
      return "attached";
    } catch (error) {
      return error;
    }
  }

  async function unmountAfter(
    change: () => void,
    by: Libc = libc,
    unmountMode: UnmountMode = "Normal",
  ): Promise<unknown> {
    execFileSync("mount", ["--bind", "--make-private", `${place.path}/src`, target.path]);
    const on = opened();
    change();
    return await unmountExactly(by, target, on, unmountMode).then(
      () => "unmounted",
      (error: unknown) => error,
    );
  }

  /** A file system without handles, as overlayfs is. */
  const withoutHandles = (): Libc => ({
    ...libc,
    handles: {
      ...libc.handles,
      handleOf: () => {
        throw new Errno("name_to_handle_at", EOPNOTSUPP);
      },
    },
  });

  /** Nothing is told of a mount, for want of memory. */
  const untold = loadMountLinks(koffi.load(null), refusing(ENOMEM));

  it("attachExactly attaches where nothing came between", () => {
    expect(attachAfter(() => {})).to.equal("attached");
    expect(sources()).to.deep.equal(["scratch"]);
  });

  it("attachExactly leaves a mount alone that came on the target, and ours goes", () => {
    expect(attachAfter(() => foreign(target.path))).to.include({ reason: "ForeignMount" });
    expect(sources()).to.deep.equal(["foreign"]);
  });

  it("attachExactly takes no mount that came over ours: it stays beneath, and that is uncertain", () => {
    using mount = cloneOf(`${place.path}/src`);
    using on = opened();
    const over: Libc = {
      ...libc,
      moveMount: (...args) => {
        libc.moveMount(...args);
        renameSync(`${place.path}/mnt/dir`, `${place.path}/away`);
        foreign(`${place.path}/away/target`);
      },
    };
    expect(() => attachExactly(over, mount, on, target))
      .to.throw()
      .with.property("errorClass", "uncertain");
    expect(sources()).to.deep.equal(["scratch", "foreign"]);
  });

  it("attachExactly undoes what landed on a directory that has another path now", () => {
    const away = () => renameSync(`${place.path}/mnt/dir`, `${place.path}/away`);
    expect(attachAfter(away)).to.include({ reason: "TargetChanged" });
    expect(sources()).to.deep.equal([]);
  });

  it("attachExactly is uncertain where nobody can tell what became of it, and takes nothing off", () => {
    using mount = cloneOf(`${place.path}/src`);
    using on = opened();
    expect(() => attachExactly({ ...libc, mounts: untold }, mount, on, target))
      .to.throw()
      .with.property("errorClass", "uncertain");
    expect(sources()).to.deep.equal(["scratch"]);
  });

  it("unmountExactly is uncertain where nobody can tell whether it is gone", async () => {
    const error = await unmountAfter(() => {}, { ...libc, mounts: untold }, "Force");
    expect(error).to.include({ reason: "TargetChanged", errorClass: "uncertain" });
    expect(sources()).to.deep.equal([]);
  });

  it("unmountExactly leaves both alone if a mount came over ours", async () => {
    const error = await unmountAfter(() => foreign(target.path));
    expect(error).to.include({ reason: "TargetChanged" });
    expect(sources()).to.deep.equal(["scratch", "foreign"]);
  });

  it("unmountExactly leaves another's mount alone that is there instead of ours", async () => {
    const error = await unmountAfter(() => {
      execFileSync("umount", ["-l", target.path]);
      foreign(target.path);
    });
    expect(error).to.include({ reason: "TargetChanged" });
    expect(sources()).to.deep.equal(["foreign"]);
  });

  /** Another's mount comes over ours between the look at what is mounted there and the call, once. */
  const overtaken = (): Libc => {
    let before = () => {
      before = () => {};
      foreign(target.path);
    };
    return {
      ...libc,
      umount2: (...args) => {
        before();
        libc.umount2(...args);
      },
    };
  };

  it("unmountExactly takes no mount that came over ours right before it was marked (step 4)", async () => {
    const error = await unmountAfter(() => {}, overtaken());
    expect(error).to.include({ reason: "TargetChanged", errorClass: "transient" });
    expect(sources()).to.deep.equal(["scratch", "foreign"]);
  });

  it("unmountExactly takes no mount that came over ours where the file system has no handles (step 4)", async () => {
    const error = await unmountAfter(() => {}, { ...overtaken(), handles: withoutHandles().handles });
    expect(error).to.include({ reason: "TargetChanged", errorClass: "transient" });
    expect(sources()).to.deep.equal(["scratch", "foreign"]);
  });

  it("unmountExactly takes no mount that came over ours on a kernel without listmount (step 4)", async () => {
    const mounts = loadMountLinks(koffi.load(null), refusing(ENOSYS));
    const error = await unmountAfter(() => {}, { ...overtaken(), mounts });
    expect(error).to.include({ reason: "TargetChanged", errorClass: "transient" });
    expect(sources()).to.deep.equal(["scratch", "foreign"]);
  });

  it("unmountExactly by force says that ours is still there, if what came over it went instead (step 6)", async () => {
    const error = await unmountAfter(() => {}, overtaken(), "Force");
    expect(error).to.include({ reason: "TargetChanged", errorClass: "uncertain" });
    expect(sources()).to.deep.equal(["scratch"]);
  });

  /** Something happens between the mark and the call that has to find it, which is made in another thread. */
  const marked = (then: () => void): { by: Libc; calls: () => number } => {
    let calls = 0;
    const umount2InThread: Libc["umount2InThread"] = (...args) => {
      calls += 1;
      if (calls === 1) then();
      return libc.umount2InThread(...args);
    };
    return { by: { ...libc, umount2InThread }, calls: () => calls };
  };

  it("unmountExactly unmounts in another thread what was marked (step 5)", async () => {
    const { by, calls } = marked(() => {});
    expect(await unmountAfter(() => {}, by)).to.equal("unmounted");
    expect(calls()).to.equal(1);
    expect(sources()).to.deep.equal([]);
  });

  it("unmountExactly unmounts here what somebody looked at meanwhile (step 5)", async () => {
    const { by, calls } = marked(() => readdirSync(target.path));
    const here: number[] = [];
    const umount2: Libc["umount2"] = (path, flags) => {
      here.push(flags);
      libc.umount2(path, flags);
    };
    expect(await unmountAfter(() => {}, { ...by, umount2 })).to.equal("unmounted");
    expect(calls(), "there").to.equal(1);
    expect(here, "the first mark, and what found the second").to.have.length(2);
    expect(sources()).to.deep.equal([]);
  });

  it("unmountExactly takes no mount that came over ours after it was marked (step 5)", async () => {
    const { by } = marked(() => foreign(target.path));
    const error = await unmountAfter(() => {}, by);
    expect(error).to.include({ reason: "TargetChanged", errorClass: "transient" });
    expect(sources()).to.deep.equal(["scratch", "foreign"]);
  });

  it("unmountExactly says that what is held in use meanwhile is busy (step 5)", async () => {
    const held: number[] = [];
    const { by } = marked(() => held.push(openSync(target.path, "r")));
    const error = await unmountAfter(() => {}, by);
    for (const fd of held) closeSync(fd);
    expect(error).to.include({ reason: "TargetBusy", errorClass: "transient" });
    expect(sources()).to.deep.equal(["scratch"]);
  });

  it("unmountExactly unmounts by name where the file system has no handles, and not twice over", async () => {
    expect(await unmountAfter(() => {}, withoutHandles())).to.equal("unmounted");
    expect(sources()).to.deep.equal([]);
    expect(await unmountAfter(() => foreign(target.path), withoutHandles())).to.include({ reason: "TargetChanged" });
    expect(sources()).to.deep.equal(["scratch", "foreign"]);
  });

  it("a statx of an attached mount and of its clone give different keys", () => {
    using a = cloneOf(`${place.path}/src`);
    using b = cloneOf(`${place.path}/src`);
    expect(libc.mounts.keyOf(a)).not.to.deep.equal(libc.mounts.keyOf(b));
    expect(libc.mounts.parentOf(libc.mounts.keyOf(a)), "attached nowhere").to.equal(undefined);
    expect(libc.statx(a.fd, "", AT_EMPTY_PATH).mountID).to.equal(libc.mounts.keyOf(a).id);
  });
});
