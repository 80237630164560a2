import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import { ListeningGround } from "./listening-ground.ts";

describe("PathWakes at a limit, on the real kernel", () => {
  let ground: ListeningGround;

  beforeEach(() => {
    ground = new ListeningGround();
  });
  afterEach(() => ground[Symbol.dispose]());

  for (const limit of ["inotifyInit", "inotifyAddWatch"] as const) {
    it(`says that a limit is reached (${limit}), and hears again when there is room`, async () => {
      let full = true;
      const code = limit === "inotifyInit" ? "EMFILE" : "ENOSPC";
      const refuse = () => {
        throw Object.assign(new Error(code), { code });
      };
      const limited = ground.pathsWith({
        inotifyInit: () => (full && limit === "inotifyInit" ? refuse() : ground.calls.inotifyInit()),
        inotifyAddWatch: (...args) =>
          full && limit === "inotifyAddWatch" ? refuse() : ground.calls.inotifyAddWatch(...args),
      });
      using heard = await ground.listen("/srv/x", {}, limited);
      expect(heard.unavailable).to.equal("limit");
      full = false;
      execFileSync("mount", ["-t", "tmpfs", "any", ground.at("/srv")]); // any change of the table has it tried again
      await until("it to be heard again", 10_000, () => heard.unavailable === undefined);
      await heard.after("a name", () => mkdirSync(ground.at("/srv/x")));
    });
  }

  it("says that a limit is reached when the mount table cannot be watched, and hears again when there is room", async () => {
    let full = true;
    const { watch } = ground.mountTable;
    const limited = ground.pathsWith(
      {},
      {
        ...ground.mountTable,
        watch: (onChange) => {
          if (full) throw Object.assign(new Error("EMFILE"), { code: "EMFILE" });
          return watch(onChange);
        },
      },
    );
    ground.soon = 50;
    using heard = await ground.listen("/srv/x", {}, limited);
    await until("it to be unavailable", 10_000, () => heard.unavailable === "limit");
    full = false;
    await until("it to be heard again", 10_000, () => heard.unavailable === undefined);
    await heard.after("a mount on the way", () => {
      execFileSync("mount", ["-t", "tmpfs", "any", ground.at("/srv")]);
      mkdirSync(ground.at("/srv/x"));
    });
  });

  it("says that a limit is reached while the mount table cannot be read, and hears again when it can", async () => {
    let full = true;
    const { read } = ground.mountTable;
    const limited = ground.pathsWith(
      {},
      { ...ground.mountTable, read: () => (full ? Promise.reject(new Error("EMFILE")) : read()) },
    );
    ground.soon = 50;
    using heard = await ground.listen("/srv/x", {}, limited);
    await until("it to be unavailable", 10_000, () => heard.unavailable === "limit");
    full = false;
    await until("it to be heard again", 10_000, () => heard.unavailable === undefined);
  });

  it("holds few files open however long a walk is, and none after it", async () => {
    mkdirSync(ground.at("/srv/a"));
    symlinkSync("a/../".repeat(200), ground.at("/srv/bomb"));
    symlinkSync(`/srv/${"a/../a/../".repeat(50)}a`, ground.at("/srv/again"));
    const openFiles = () => readdirSync("/proc/self/fd").length;
    using _first = await ground.listen("/srv/x"); // opens what stays open
    const before = openFiles();
    let most = 0;
    ground.beforeAdd = () => {
      most = Math.max(most, openFiles());
    };
    using bomb = await ground.listen("/srv/bomb/again/x");
    await until("the walk to be given up", 10_000, () => bomb.unavailable === "limit");
    expect(most - before, "files open during a walk").to.be.within(1, 6);
    expect(openFiles() - before, "files open after a walk").to.equal(0);
  });
});
