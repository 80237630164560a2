import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { expect } from "chai";
import { LinuxEvidence } from "../../src/host/linux/evidence/linux-evidence.ts";
import { joinPath, type MountIdentity, MountTable } from "../../src/host/mount-table/mount-table.ts";
import { parseMountinfo } from "../../src/host/mount-table/mountinfo.ts";
import { need } from "../lib/asserts/requirements.ts";

describe("LinuxEvidence", () => {
  before(function () {
    need(this, "root");
  });

  it("users of a mount are told as far as they can be read; holders are proof, so that none may be missing", async () => {
    const evidence = new LinuxEvidence("self");
    process.seteuid?.(65534);
    try {
      const users = await evidence.users("/");
      expect(users.every((user) => user.pid === process.pid || user.command !== "")).to.equal(true);
      const error = await evidence.holders({ device: "0:0", root: "/" }).catch((thrown: unknown) => thrown);
      expect(error).to.include({ reason: "StillReferenced" });
    } finally {
      process.seteuid?.(0);
    }
  });

  it("knows a mount namespace by its id, as the next one may get its number; where no id is known, by the number", async () => {
    const namespace = readlinkSync("/proc/self/ns/mnt");
    const members = (more: { namespaceID?: string } = {}) =>
      new LinuxEvidence("self").members([{ namespace, ...more }]);
    const [member] = await members();
    expect(member).to.include({ namespace }).and.to.have.property("namespaceID").that.match(/^\d+$/);
    expect(await members({ namespaceID: member?.namespaceID ?? "" })).to.have.length(1);
    expect(await members({ namespaceID: "1" })).to.deep.equal([]);
  });

  it("asked for many at once it says of each what it says of it alone, of each namespace", async function () {
    this.timeout(60_000);
    const base = mkdtempSync(join(tmpdir(), "evidence-"));
    const paths = Array.from({ length: 12 }, (_, i) => `${base}/v${i}`);
    for (const path of paths) {
      mkdirSync(path);
      execFileSync("mount", ["-t", "tmpfs", "evidence", path]);
    }
    // A copy of the namespace, in which some of them are not.
    const script = `umount ${paths.slice(0, 4).join(" ")}; echo ready; exec sleep 600`;
    const other = spawn("unshare", ["--mount", "--propagation", "private", "sh", "-c", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await once(other.stdout, "data");
      execFileSync("umount", paths.slice(8));
      const evidence = new LinuxEvidence("self");
      const table = new MountTable(parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")));
      const copied = new MountTable(parseMountinfo(readFileSync(`/proc/${other.pid}/mountinfo`, "utf8")));
      const identities = paths.map((path) => {
        const { device, root } = table.at(path) ?? copied.at(path) ?? expect.fail(`${path} is mounted nowhere`);
        return { device, root };
      });
      const places = paths.map((path) => placeOf(table, path));
      const pidsOf = (holders: readonly { pid?: number }[]) => holders.map(({ pid }) => pid === other.pid);
      const together = await Promise.all(identities.map((identity) => evidence.holders(identity)));
      expect(together.map(pidsOf)).to.deep.equal(
        paths.map((_, i) => (i < 4 ? [false] : i < 8 ? [false, true] : [true])),
      );
      const alone: unknown[] = [];
      for (const identity of identities) alone.push(await evidence.holders(identity));
      expect(together).to.deep.equal(alone);
      const on = await Promise.all(places.map((place) => evidence.mountedOn(place)));
      expect(on.map(pidsOf)).to.deep.equal(paths.map((_, i) => (i < 4 ? [false] : i < 8 ? [false, true] : [true])));
    } finally {
      other.kill("SIGKILL");
      await once(other, "exit");
      execFileSync("umount", paths.slice(0, 8));
      rmSync(base, { recursive: true });
    }
  });
});

/** The directory beneath what is mounted at a path. */
function placeOf(table: MountTable, path: string): MountIdentity {
  const { device, root } = table.identityOf(dirname(path)) ?? expect.fail("not mounted");
  return { device, root: joinPath(root, basename(path)) };
}
