import { chmodSync, lstatSync, mkdirSync, readlinkSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { setVolumeOwnership } from "../../src/host/linux/files/set-volume-ownership.ts";
import { type Libc, loadLibc } from "../../src/host/linux/syscall/libc.ts";
import type { OwnershipRequest } from "../../src/host/ports/ownership.ts";
import { type GroupVolume, groupOf, withGroupVolume } from "./group-volume.ts";

const libc = loadLibc();
const quiet = () => {};

describe("files that are given to a group, of a volume that is used or fails meanwhile", () => {
  let volume: string;
  let request: GroupVolume["request"];
  withGroupVolume((there) => {
    ({ volume, request } = there);
  });

  const give = (more?: Partial<OwnershipRequest>) => setVolumeOwnership(libc, request(more), quiet);
  const of = groupOf;

  /** The libc, but for what is done first at a call for the entry of this name. */
  function libcWith(call: "statx" | "changeGroup", name: string, first: () => void): Libc {
    const watch = (fd: number) => {
      if (fd >= 0 && readlinkSync(`/proc/self/fd/${fd}`).endsWith(`/${name}`)) first();
    };
    if (call === "statx") {
      const statx: Libc["statx"] = (fd, path, flags) => {
        watch(fd);
        return libc.statx(fd, path, flags);
      };
      return { ...libc, statx };
    }
    const changeGroup: Libc["changeGroup"] = (fd, gid) => {
      watch(fd);
      libc.changeGroup(fd, gid);
    };
    return { ...libc, changeGroup };
  }
  const refuse = (code: string) => () => {
    throw Object.assign(new Error(code), { code });
  };

  it("are given though one of them cannot be looked at, and what was removed meanwhile is none of them", () => {
    for (const name of ["bad", "good"]) writeFileSync(`${volume}/${name}`, "");
    for (const [code, failed, examples] of [
      ["EIO", 1, ["/bad: EIO"]],
      ["ESTALE", 0, []],
      ["ENOENT", 0, []],
    ] as const) {
      const result = setVolumeOwnership(libcWith("statx", "bad", refuse(code)), request(), quiet);
      expect(result, code).to.deep.equal({ entries: 2, failed, examples });
      expect([of(`${volume}/good`), of(volume)]).to.deep.equal(["2000 664", "2000 2775"]);
    }
    const lost = libcWith("changeGroup", "bad", refuse("ESTALE"));
    expect(setVolumeOwnership(lost, request({ fsGroup: 2001 }), quiet).failed).to.equal(0);
  });

  it("are not said to be given where the root cannot be looked at", () => {
    for (const code of ["ESTALE", "EIO"]) {
      let looks = 0;
      const lost = libcWith("statx", "volume", () => {
        if (++looks > 1) refuse(code)();
      });
      expect(() => setVolumeOwnership(lost, request(), quiet), code).to.throw(code);
    }
    const { failed, examples } = setVolumeOwnership(
      libcWith("changeGroup", "volume", refuse("ESTALE")),
      request(),
      quiet,
    );
    expect([failed, examples]).to.deep.equal([1, ["/: ESTALE"]]);
  });

  it("keep what their owner takes away while a directory is gone through", () => {
    mkdirSync(`${volume}/d`, { mode: 0o755 });
    writeFileSync(`${volume}/d/f`, "");
    const owner = libcWith("changeGroup", "f", () => {
      chmodSync(`${volume}/d`, 0o700);
      chmodSync(volume, 0o711);
    });
    setVolumeOwnership(owner, request(), quiet);
    expect([of(`${volume}/d`), of(volume)]).to.deep.equal(["2000 2770", "2000 2771"]);
  });

  it("are begun again where it was cut off: the root fits last", () => {
    for (const name of ["a", "d", "d/b"]) {
      if (name === "d") mkdirSync(`${volume}/d`, { mode: 0o700 });
      else writeFileSync(`${volume}/${name}`, "", { mode: 0o600 });
    }
    const policy = "OnRootMismatch";
    for (const [n, name] of ["a", "b", "d"].entries()) {
      const cutOff = libcWith("changeGroup", name, () => {
        throw new Error("cut off");
      });
      expect(() => setVolumeOwnership(cutOff, request({ fsGroup: 3000 + n, policy }), quiet)).to.throw("cut off");
      expect(of(volume), name).to.equal("0 755");
    }
    expect(give({ policy }).entries).to.equal(4);
    expect(["/a", "/d", "/d/b", ""].map((name) => lstatSync(volume + name).gid)).to.deep.equal([
      2000, 2000, 2000, 2000,
    ]);
  });

  it("are told one by one: the slowest file system gets further", () => {
    mkdirSync(`${volume}/d`);
    for (const name of ["a", "b", "d/c"]) writeFileSync(`${volume}/${name}`, "");
    const told: number[] = [];
    setVolumeOwnership(libc, request(), (entries) => told.push(entries));
    expect(told).to.have.length(4);
    expect(told).to.deep.equal(told.toSorted((a, b) => a - b));
  });
});
