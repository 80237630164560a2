import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { afterReboot } from "../../src/agent/model/volume-record.ts";
import { sandboxUID } from "../../src/host/linux/child/confined.ts";
import { GitWorld } from "../lib/kernel/agents/git-world.ts";
import { withEach } from "../lib/kernel/with-node.ts";
import { TestRepository } from "../lib/servers/git-server.ts";

describe("git, on the real kernel", function () {
  this.timeout(60_000); // six processes a fetch, on machines that have others at work
  let world: GitWorld;

  withEach(GitWorld, ["git"], (made) => {
    world = made;
  });

  it("shows the files of a commit, bytes, modes and links as they are, to be read only", async () => {
    const bytes = randomBytes(300_000);
    const revision = world.commit(
      world.file("crlf.txt", "a\r\nb\r\n"),
      world.directory("dir", world.file("big", bytes), world.file("run.sh", "#!/bin/sh\n", "100755")),
      world.file("empty", ""),
      world.file("link", "dir/big", "120000"),
    );
    const path = await world.shown(revision);
    expect(readdirSync(path).sort()).to.deep.equal(["crlf.txt", "dir", "empty", "link"]);
    expect(readFileSync(`${path}/dir/big`).equals(bytes)).to.equal(true);
    expect(readFileSync(`${path}/crlf.txt`, "latin1")).to.equal("a\r\nb\r\n");
    expect(readlinkSync(`${path}/link`)).to.equal("dir/big");
    const modes = ["", "/dir", "/dir/run.sh", "/empty"].map((at) => (statSync(path + at).mode & 0o7777).toString(8));
    expect(modes).to.deep.equal(["755", "755", "755", "644"]);
    expect(statSync(`${path}/dir/big`).uid).to.equal(0);
    expect(world.node.mountAt(path)?.options).to.include.members(["ro", "nosuid", "nodev"]);
    expect(world.data.flatMap((directory) => readdirSync(directory))).to.deep.equal(["tree"]);
    expect(world.data.map((directory) => statSync(directory).mode & 0o777)).to.deep.equal([0o700]);
  });

  it("shows a directory of a commit that no branch leads to any more", async () => {
    const old = world.commit(world.directory("site", world.file("page.html", "old")));
    world.commit(world.file("other", "new"));
    expect(readdirSync(await world.shown(old, { directory: "site" }))).to.deep.equal(["page.html"]);
  });

  it("shows a commit of a repository whose ids are of SHA-256", async () => {
    world.repository = new TestRepository(`${world.node.path}/src/sha256.git`, "sha256");
    const revision = world.commit(world.file("a", "of 64 digits"));
    const path = await world.shown(revision, { repository: world.server.address("sha256.git") });
    expect(readFileSync(`${path}/a`, "utf8")).to.equal("of 64 digits");
  });

  it("does not need the server again: not after a restart, nor after a reboot", async () => {
    const revision = world.commit(world.file("a", "kept"));
    const path = await world.shown(revision);
    const asked = world.server.requests.length;
    const journal = await world.node.journal();
    const record = journal.records.get(asVolumeName(world.volume));
    if (record?.stage === undefined) throw new Error("no stage on record");
    await journal.put(afterReboot(record));
    await world.node.restart();
    await world.shown(revision);
    expect(readFileSync(`${path}/a`, "utf8")).to.equal("kept");
    expect(world.server.requests.length).to.equal(asked);
  });

  it("begins again where a fetch was cut off, and leaves nothing of it", async () => {
    const revision = world.commit(world.file("a", "whole"));
    world.server.answers = (_, response) => {
      response.destroy();
      return true;
    };
    expect((await world.failure(revision))?.reason).to.equal("ServerUnreachable");
    const [directory = ""] = world.data;
    expect(readdirSync(directory).sort()).to.deep.equal(["new", "repository"]);
    world.server.answers = () => false;
    world.node.forgetFailures();
    const path = await world.shown(revision);
    expect(readFileSync(`${path}/a`, "utf8")).to.equal("whole");
    expect(readdirSync(directory)).to.deep.equal(["tree"]);
  });

  it("is released without a trace, also when nothing was ever shown", async () => {
    const revision = world.commit(world.file("a", "x"));
    world.server.answers = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    expect((await world.failure(revision))?.reason).to.equal("ServerUnreachable");
    world.node.want(world.intent(revision, {}, true));
    expect((await world.node.volume(asVolumeName(world.volume))).phase).to.equal("released");
    await world.node.host.directories.emptyTrash();
    expect([...world.data, ...readdirSync(`${world.node.stateDir}/trash`)]).to.deep.equal([]);
  });

  it("is released while its server says nothing: the fetch ends, git and all", async () => {
    const revision = world.commit(world.file("a", "x"));
    const asked = Promise.withResolvers<void>();
    world.server.answers = () => {
      asked.resolve();
      return true;
    };
    const failed = world.failure(revision);
    await asked.promise;
    world.node.want(world.intent(revision, {}, true));
    expect((await failed)?.reason).to.equal(undefined); // the plan after it is that of the release
    expect((await world.node.volume(asVolumeName(world.volume))).phase).to.equal("released");
    await strangersEnd();
    await world.node.host.directories.emptyTrash();
    expect([...world.data, ...readdirSync(`${world.node.stateDir}/trash`)]).to.deep.equal([]);
  });

  describe("says what is wrong", () => {
    it("a commit, or a directory of it, that is not there", async () => {
      const revision = world.commit(world.file("a", "x"));
      const none = await world.failure("0123456789".repeat(4));
      expect(`${none?.reason}: ${none?.message}`).to.match(/^RevisionNotFound: .* has no commit 0123456789/);
      for (const directory of ["b", "a"]) {
        const found = await world.failure(revision, { directory });
        expect(`${found?.reason}: ${found?.message}`).to.match(/^RevisionNotFound: .* has no directory [ab]$/);
      }
    });

    it("a repository that is not there, or wants credentials, or has moved", async () => {
      const revision = world.commit();
      const none = await world.failure(revision, { repository: world.server.address("none.git") });
      expect(none?.reason).to.equal("RepositoryRefused");
      for (const [status, headers] of [
        [401, { "WWW-Authenticate": "Basic" }],
        [302, { Location: "http://127.0.0.1:1/elsewhere" }],
      ] as const) {
        world.server.answers = (_, response) => {
          response.writeHead(status, headers).end();
          return true;
        };
        expect((await world.failure(revision))?.reason, `${status}`).to.equal("RepositoryRefused");
      }
    });

    it("a server that says nothing, and ends git with it", async () => {
      const revision = world.commit();
      world.server.answers = () => true;
      world.node.deadlineMs = 1_500;
      expect((await world.failure(revision))?.reason).to.equal("TimedOut");
      await strangersEnd();
    });

    it("a commit with more than may be fetched, or shown", async () => {
      const fetched = world.commit(world.file("a", randomBytes(400_000)));
      const shown = world.commit(world.file("a", Buffer.alloc(4_000_000)));
      const sizeLimit = "200Ki";
      const one = await world.failure(fetched, { sizeLimit });
      expect(`${one?.reason}: ${one?.message}`).to.match(/^ContentTooLarge: .* to fetch/);
      const other = await world.failure(shown, { sizeLimit });
      expect(`${other?.reason}: ${other?.message}`).to.match(/^ContentTooLarge: .* has files of more than/);
    });
  });
});

/** The kernel ends them with the child, one after the other. */
async function strangersEnd(): Promise<void> {
  const left = () => readdirSync("/proc").filter((pid) => /^[0-9]+$/.test(pid) && userOf(pid) === sandboxUID);
  while (left().length > 0) await setImmediate();
}

function userOf(pid: string): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    if (/^State:\tZ/m.test(status)) return undefined; // it has ended, and pid 1 of this test reaps nobody
    return Number(/^Uid:\t([0-9]+)/m.exec(status)?.[1]);
  } catch {
    return undefined; // it has ended
  }
}
