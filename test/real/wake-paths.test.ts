import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import type { WatchedPath } from "../../src/host/ports/wakeups.ts";
import { ListeningGround } from "./listening-ground.ts";

describe("PathWakes on the real kernel", () => {
  let ground: ListeningGround;

  beforeEach(() => {
    ground = new ListeningGround();
  });
  afterEach(() => ground[Symbol.dispose]());

  const at = (path: string) => ground.at(path);
  const listen = (path: string, more: Partial<WatchedPath> = {}) => ground.listen(path, more);

  it("tells once when a path appears, however many directories are made on the way", async () => {
    using heard = await listen("/srv/a/b/c");
    await heard.after("mkdir -p", () => mkdirSync(at("/srv/a/b/c"), { recursive: true }));
    expect(heard.wakes).to.equal(1);
  });

  it("follows directories that appear one after the other, and tells only of the last", async () => {
    using heard = await listen("/srv/a/b/c");
    for (const part of ["/srv/a", "/srv/a/b"]) {
      const before = ground.added;
      mkdirSync(at(part));
      await until(`${part} to be listened to`, 10_000, () => ground.added > before);
    }
    expect(heard.wakes).to.equal(0);
    await heard.after("the last directory", () => mkdirSync(at("/srv/a/b/c")));
  });

  it("follows a directory that is removed and made again, and one that is renamed into place", async () => {
    ground.hearsMounts = false;
    mkdirSync(at("/srv/a/b"), { recursive: true });
    using heard = await listen("/srv/a/b/c");
    rmSync(at("/srv/a"), { recursive: true });
    mkdirSync(at("/srv/new/b/c"), { recursive: true });
    await heard.after("a rename of a directory above", () => renameSync(at("/srv/new"), at("/srv/a")));
    await ground.caughtUp();
    expect(heard.wakes).to.equal(1);
    await heard.after("a rename away", () => renameSync(at("/srv/a"), at("/srv/away")));
    mkdirSync(at("/srv/away/b/d"));
    await heard.after("a rename back", () => renameSync(at("/srv/away"), at("/srv/a")));
  });

  it("follows links within the root, and hears when what one leads to appears", async () => {
    ground.hearsMounts = false;
    symlinkSync("/srv/v1/data", at("/srv/current"));
    using heard = await listen("/srv/current/x");
    await heard.after("what a link leads to", () => mkdirSync(at("/srv/v1/data/x"), { recursive: true }));
    rmSync(at("/srv/current"));
    mkdirSync(at("/srv/v2/x"), { recursive: true });
    await heard.after("a link that leads elsewhere", () => symlinkSync("v2", at("/srv/current")));
  });

  it("does not follow links where they are refused, and hears when one is replaced by a directory", async () => {
    mkdirSync(at("/elsewhere"));
    symlinkSync("/elsewhere", at("/srv/link"));
    using heard = await listen("/srv/link/x", { links: "refuse" });
    mkdirSync(at("/elsewhere/x"));
    await ground.caughtUp();
    expect(heard.wakes).to.equal(0);
    await heard.after("a link replaced by a directory", () => {
      rmSync(at("/srv/link"));
      mkdirSync(at("/srv/link/x"), { recursive: true });
    });
  });

  it("hears a file that is replaced by a directory, at the end and on the way", async () => {
    writeFileSync(at("/srv/file"), "");
    using end = await listen("/srv/file");
    using way = await listen("/srv/file/x");
    rmSync(at("/srv/file"));
    await Promise.all([
      end.after("a file replaced", () => mkdirSync(at("/srv/file/x"), { recursive: true })),
      way.after("a file on the way replaced", () => {}),
    ]);
  });

  it("hears a mount over a directory above, and its unmount", async () => {
    mkdirSync(at("/srv/a/x"), { recursive: true });
    using heard = await listen("/srv/a/x");
    await heard.after("a mount", () => execFileSync("mount", ["-t", "tmpfs", "over", at("/srv/a")]));
    await heard.after("what is made in the mount", () => mkdirSync(at("/srv/a/x")));
    await heard.after("an unmount", () => execFileSync("umount", [at("/srv/a")]));
  });

  it("keeps no file system busy that it listens to", async () => {
    mkdirSync(at("/srv/a"));
    execFileSync("mount", ["-t", "tmpfs", "over", at("/srv/a")]);
    using _heard = await listen("/srv/a/x");
    execFileSync("umount", [at("/srv/a")]);
  });

  it("tells when a file was written and closed, if that is asked for, not when it was read", async () => {
    writeFileSync(at("/srv/disk"), "");
    using heard = await listen("/srv/disk", { written: true });
    using reader = await listen("/srv/disk");
    execFileSync("cat", [at("/srv/disk")]);
    await heard.after("a writer", () => writeFileSync(at("/srv/disk"), "made"));
    expect(heard.wakes, "a reader is not told of").to.equal(1);
    expect(reader.wakes).to.equal(0);
  });

  it("is not woken by other names in the directory, however many", async () => {
    using heard = await listen("/srv/x");
    for (let i = 0; i < 30_000; i++) writeFileSync(at(`/srv/other-${i}`), "");
    await heard.after("the name, in a storm of others", () => mkdirSync(at("/srv/x")));
    expect(heard.wakes).to.equal(1);
  });

  it("is not woken by other names beside a file that is there", async () => {
    writeFileSync(at("/srv/file"), "");
    using heard = await listen("/srv/file");
    writeFileSync(at("/srv/other"), "");
    await ground.caughtUp();
    expect(heard.wakes).to.equal(0);
    await heard.after("its own name", () => rmSync(at("/srv/file")));
    expect(heard.wakes).to.equal(1);
  });

  it("misses nothing that happens while it begins to listen to a directory", async () => {
    using heard = await listen("/srv/a/b");
    ground.beforeAdd = () => {
      if (existsSync(at("/srv/a"))) mkdirSync(at("/srv/a/b"), { recursive: true });
    };
    await heard.after("a name that appears right before its directory is listened to", () => mkdirSync(at("/srv/a")));
  });

  it("shares one watch of a directory between all who wait there, and lets go of it with the last", async () => {
    const heard = await Promise.all(["/srv/a", "/srv/b", "/srv/b"].map((path) => listen(path)));
    heard[0]?.[Symbol.dispose]();
    await heard[1]?.after("a name of the others", () => mkdirSync(at("/srv/b")));
    expect(heard.map(({ wakes }) => wakes)).to.deep.equal([0, 1, 1]);
    for (const one of heard) one[Symbol.dispose]();
  });

  it("does not enter a file system that could hang, and says so until it is gone", async () => {
    mkdirSync(at("/srv/a"));
    execFileSync("mount", ["-t", "mqueue", "far", at("/srv/a")]); // of a type that is not known to be local
    using heard = await listen("/srv/a/x/y");
    expect(heard.unavailable).to.equal("mayHang");
    execFileSync("umount", [at("/srv/a")]);
    await until("it to be heard again", 10_000, () => heard.unavailable === undefined);
  });
});
