import { execFileSync } from "node:child_process";
import { chownSync, statSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { VolumeError } from "../../src/errors.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/kernel/driver-node.ts";

/** Longer than any target waits for the next publish, and too short for two. */
const aMinute = 76_000;

describe("a CSI driver that asks to be called again, on the real kernel (requiresRepublish)", () => {
  let there: DriverNode;
  withDriverNode((given) => {
    there = given;
  });
  const asks = (more: object = {}) => there.volume({ of: { requiresRepublish: true, ...more } });
  const published = () => there.driver.kinds.filter((kind) => kind === "publish").length;
  const ids = () => there.node.mounts().map(({ id }) => id);
  const set = async (more?: object) => {
    there.node.want(asks(more));
    await there.node.converge();
    return ids();
  };

  it("is called for each target about each minute, with the Secret as it is then, and its mounts stay", async () => {
    const login = { namespace: "storage", name: "publish" };
    there.node.secrets.set("publish", new Map([["token", "1"]]));
    const before = await set({ nodePublishSecretRef: login });
    await there.node.converge();
    expect(published(), "as long as no minute is over").to.equal(2);
    there.node.secrets.set("publish", new Map([["token", "2"]]));
    there.node.ahead += aMinute;
    await there.node.converge();
    expect(published()).to.equal(4);
    const [first, , again] = there.driver.requests.filter(({ call }) => call === "publish");
    expect(again?.["secrets"]).to.deep.equal(new Map([["token", "2"]]));
    expect({ ...again, secrets: undefined }).to.deep.equal({ ...first, secrets: undefined });
    expect(ids()).to.deep.equal(before);
    const { wakeAt = 0 } = await there.node.plan();
    expect(wakeAt - performance.now() - there.node.ahead).to.be.within(44_000, 75_000);
    expect((await there.released()).phase).to.equal("released");
    expect(there.left()).to.deep.equal([]);
  });

  it("is not called again without asking for it", async () => {
    there.node.want(there.volume());
    await there.node.converge();
    there.node.ahead += aMinute;
    await there.node.converge();
    expect(published()).to.equal(2);
  });

  it("is called at once by the next agent", async () => {
    await set();
    await there.node.restart();
    await there.node.converge();
    expect(published()).to.equal(4);
  });

  it("keeps its mounts when it fails, says why, and is tried again", async () => {
    const before = await set();
    const refused = () => new VolumeError("DriverFailed", "final", "no token today");
    there.driver.fail("publish", "before", refused());
    there.driver.fail("publish", "before", new VolumeError("TimedOut", "uncertain", "no answer in time"));
    there.node.ahead += aMinute;
    const failed = await there.node.volume(volumeName);
    expect(failed.failure).to.include({ kind: "republish", reason: "DriverFailed", message: "no token today" });
    expect(failed.actualState.targets.map(({ truth, outdated }) => ({ truth, outdated }))).to.deep.equal([
      { truth: "mounted", outdated: false },
      { truth: "mounted", outdated: false },
    ]);
    expect(failed.pending).to.deep.equal([]);
    expect(ids()).to.deep.equal(before);
    there.node.forgetFailures();
    expect((await there.node.volume(volumeName)).failure).to.equal(undefined);
    expect(ids()).to.deep.equal(before);
    expect(there.driver.kinds.filter((kind) => kind !== "publish")).to.deep.equal(["stage"]);
  });

  for (const [title, fails] of [
    ["with OK", false],
    ["and fails", true],
  ] as const) {
    it(`loses at once what it mounts over what was there, ${title}`, async () => {
      const before = await set();
      there.driver.onRepublish = (path) => {
        for (const layer of ["one", "two"]) execFileSync("mount", ["-t", "tmpfs", layer, path]);
      };
      if (fails) there.driver.fail("publish", "after", new VolumeError("DriverFailed", "final", "half done"));
      there.node.ahead += aMinute;
      const found = await there.node.volume(volumeName);
      expect(found.failure?.reason).to.equal(fails ? "DriverFailed" : "DriverReplyFalse");
      expect(ids()).to.deep.equal(before);
      there.driver.onRepublish = () => {};
      expect((await there.released()).phase).to.equal("released");
    });
  }

  it("loses what it mounts over what was there after its time, or while the agent is killed", async () => {
    for (const killed of [false, true]) {
      const before = await set();
      execFileSync("mount", ["-t", "tmpfs", "late", await there.publishedFor("a")]);
      if (killed) await there.node.restart();
      const called = published();
      await there.node.converge();
      expect(ids(), "no target went for it").to.deep.equal(before);
      expect(published(), "and it is called again").to.be.greaterThan(called);
    }
  });

  it("may replace its mount: the target gets the new one", async () => {
    await set();
    there.driver.onRepublish = (path) => {
      execFileSync("umount", [path]);
      execFileSync("mount", ["-t", "tmpfs", "new", path]);
      writeFileSync(`${path}/token`, "new");
      there.driver.onRepublish = () => {};
    };
    there.node.ahead += aMinute;
    await there.node.converge();
    const shown = ["a", "b"].map((name) => there.node.mountAt(there.node.target(name))?.source).sort();
    expect(shown).to.deep.equal(["fake-vol-1", "new"]);
    const points = there.node.mounts().map(({ point }) => point);
    expect(new Set(points).size, "one layer each").to.equal(points.length);
  });

  it("what it unmounts is published again, and the target shows the volume all the while", async () => {
    await set();
    const bind = there.node.mountAt(there.node.target("a"))?.id;
    there.driver.onRepublish = (path) => execFileSync("umount", [path]);
    there.node.ahead += aMinute;
    await there.node.converge();
    expect(there.node.mountAt(there.node.target("a"))?.id).to.equal(bind);
    expect(there.node.mountAt(await there.publishedFor("a"))).not.to.equal(undefined);
  });

  it("what it writes then is the group's as well, as what was there", async () => {
    const mounts = [{ path: there.node.target("a"), fsGroup: 2000 }];
    const grantedFor = { requiresRepublish: true, supportsFSGroup: true };
    there.node.want(there.volume({ mounts, of: grantedFor }));
    await there.node.converge();
    const token = `${there.node.target("a")}/token`;
    there.driver.onRepublish = (path) => writeFileSync(`${path}/token`, "new", { mode: 0o600 });
    there.node.ahead += aMinute;
    await there.node.converge();
    expect(statSync(token).gid).to.equal(2000);
    there.driver.onRepublish = (path) => chownSync(`${path}/token`, 0, 0);
    there.node.ahead += aMinute;
    await there.node.converge();
    expect([statSync(token).gid, published()]).to.deep.equal([2000, 3]);
  });

  it("with podInfoOnMount is told that the volume is Persistent, and of no pod", async () => {
    await set({ podInfoOnMount: true, volumeAttributes: { pool: "fast" } });
    const [staged, first] = there.driver.requests;
    expect(staged?.["volumeContext"]).to.deep.equal(new Map([["pool", "fast"]]));
    expect(first?.["volumeContext"]).to.deep.equal(
      new Map([
        ["pool", "fast"],
        ["csi.storage.k8s.io/ephemeral", "false"],
      ]),
    );
  });
});
