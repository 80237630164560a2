import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { expect } from "chai";
import koffi from "koffi";
import { mountOfByID, mountOfByText } from "../../src/host/linux/mount/mount-of.ts";
import { AT_FDCWD, O } from "../../src/host/linux/syscall/constants.ts";
import { Descriptor } from "../../src/host/linux/syscall/descriptor.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { loadMountQueries } from "../../src/host/linux/syscall/mount-calls.ts";
import { loadMountLinks } from "../../src/host/linux/syscall/mount-links.ts";
import { refusing } from "../lib/fakes/refusing-queries.ts";
import { type Scratch, scratch } from "./scratch.ts";

const [EPERM, ENOMEM, ENOSYS] = [1, 12, 38];

describe("what is asked of a mount by its id, on the real kernel", () => {
  const libc = loadLibc();
  const lib = koffi.load(null);
  const byID = loadMountLinks(lib);
  let place: Scratch;

  beforeEach(() => {
    place = scratch();
    mkdirSync(`${place.path}/outer`);
    execFileSync("mount", ["-t", "tmpfs", "outer", `${place.path}/outer`]);
    mkdirSync(`${place.path}/outer/inner`);
    execFileSync("mount", ["-t", "tmpfs", "inner", `${place.path}/outer/inner`]);
  });
  afterEach(() => place[Symbol.dispose]());

  const opened = (path: string) => new Descriptor(libc.openat2(AT_FDCWD, path, O.PATH | O.CLOEXEC, 0, 0));

  for (const [errno, name] of [
    [ENOSYS, "ENOSYS"],
    [EPERM, "EPERM"],
  ] as const) {
    const byText = loadMountLinks(lib, refusing(errno));

    it(`is answered by mountinfo, and alike, where statmount and listmount end with ${name}`, () => {
      for (const [path, children] of [
        ["", true],
        ["/outer", true],
        ["/outer/inner", false],
      ] as const) {
        using mount = opened(`${place.path}${path}`);
        const key = byID.keyOf(mount);
        expect(byID.hasChildren(key), path).to.equal(children);
        expect(byText.hasChildren(key), path).to.equal(children);
        expect(byID.parentOf(key), path).to.be.a("number");
        expect(byText.parentOf(key), path).to.equal(byID.parentOf(key));
        const told = mountOfByID(libc, refusing(errno))(mount);
        expect(told?.point).to.equal(`${place.path}${path}`);
        expect(told).to.deep.equal(mountOfByText(libc)(mount));
        expect(mountOfByID(libc, loadMountQueries(lib))(mount)).to.include({ id: told?.id, point: told?.point });
      }
    });

    it(`is answered so of a mount that is gone, too (${name})`, () => {
      using held = opened(`${place.path}/outer/inner`);
      const key = byID.keyOf(held);
      execFileSync("umount", ["-l", `${place.path}/outer/inner`]);
      for (const links of [byID, byText]) {
        expect(links.parentOf(key)).to.equal(undefined);
        expect(links.hasChildren(key)).to.equal(false);
      }
    });
  }

  it("is answered by mountinfo of a mount without an id that is never used again", () => {
    using mount = opened(`${place.path}/outer`);
    const { id } = byID.keyOf(mount);
    expect(byID.hasChildren({ id })).to.equal(true);
    expect(byID.parentOf({ id })).to.equal(byID.parentOf(byID.keyOf(mount)));
  });

  it("is not answered at all after any other error: gone and unknown are not the same", () => {
    const failing = loadMountLinks(lib, refusing(ENOMEM));
    using mount = opened(`${place.path}/outer`);
    const key = failing.keyOf(mount);
    expect(() => failing.parentOf(key)).to.throw("ENOMEM");
    expect(() => failing.hasChildren(key)).to.throw("ENOMEM");
    expect(() => mountOfByID(libc, refusing(ENOMEM))(mount)).to.throw("ENOMEM");
  });
});
