import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { asMountPath } from "../../src/agent/model/identities.ts";
import { summaryOf } from "../../src/agent/status/volume-summary.ts";
import type { NodeVolumeIntent } from "../../src/api/types.gen.ts";
import type { OwnershipResult } from "../../src/host/ports/ownership.ts";
import { type DriverNode, withDriverNode } from "../lib/kernel/driver-node.ts";

describe("whom the files of a CSI volume belong to, on the real kernel", () => {
  let there: DriverNode;
  withDriverNode((given) => {
    there = given;
  });

  type Mount = Omit<NodeVolumeIntent["spec"]["mounts"][number], "name" | "requester" | "path" | "readOnly">;
  let generation = 0;
  /** The volume with a mount for each entry, by the name of its target. */
  const want = (
    mounts: { [target: string]: Mount & { readonly readOnly?: boolean } },
    of: object = { supportsFSGroup: true },
  ) => {
    const asked = Object.entries(mounts).map(([name, more]) => ({ name, path: there.node.target(name), ...more }));
    there.node.want(there.volume({ of, mounts: asked, generation: ++generation }));
    return there.node.converge();
  };
  const groups = (target: string) => {
    const root = there.node.target(target);
    const lines = execFileSync("find", [root, "-printf", "%P %G\n"], { encoding: "utf8" }).trim().split("\n");
    return lines.map((line) => line.trim()).sort();
  };
  /** Fills the volume before anybody uses it. */
  const fill = () => {
    there.driver.before = async (call) => {
      if (call !== "publish") return;
      const staging = there.driver.requests[0]?.["stagingPath"] as string;
      mkdirSync(`${staging}/d`, { recursive: true });
      writeFileSync(`${staging}/d/f`, "", { mode: 0o600 });
    };
  };
  const why = async (target: string) => {
    const plan = await there.node.plan();
    const [volume] = plan.volumes.values();
    return volume?.problems.targets.get(asMountPath(there.node.target(target)));
  };

  it("to the group of its mounts, before any of them is there", async () => {
    fill();
    await want({ a: { fsGroup: 2000 } });
    expect(groups("a")).to.deep.equal(["2000", "d 2000", "d/f 2000"]);
    expect(lstatSync(`${there.node.target("a")}/d/f`).mode & 0o7777).to.equal(0o660);
    expect(lstatSync(there.node.target("a")).mode & 0o2770).to.equal(0o2770);
    expect(there.node.log.join()).to.contain("3 files of").and.to.contain("group 2000");
    expect((await there.record())?.targets[0]?.published?.fsGroup).to.equal(2000);
  });

  it("a second mount does it again with Always, and with OnRootMismatch leaves everything as it is", async () => {
    fill();
    await want({ a: { fsGroup: 2000 } });
    chownSync(`${there.node.target("a")}/d/f`, 0, 7);
    await want({ a: { fsGroup: 2000 }, b: { fsGroup: 2000, fsGroupChangePolicy: "OnRootMismatch" } });
    expect(groups("b")).to.deep.equal(["2000", "d 2000", "d/f 7"]);
    await want({ a: { fsGroup: 2000 }, c: { fsGroup: 2000, fsGroupChangePolicy: "Always" } });
    expect(groups("c")).to.deep.equal(["2000", "d 2000", "d/f 2000"]);
    expect(there.node.log.map((line) => line.split(" ")[1])).to.deep.equal(["3", "0", "3"]);
  });

  it("a mount that asks for another group waits and names who has it, and gets it when that is gone", async () => {
    await want({ a: { fsGroup: 2000 } });
    await want({ a: { fsGroup: 2000 }, b: { fsGroup: 3000 } });
    expect(groups("a")).to.deep.equal(["2000"]);
    expect(there.node.mountAt(there.node.target("b"))).to.equal(undefined);
    expect(await why("b")).to.deep.include({
      reason: "FsGroupConflict",
      on: { kind: "Mount", name: there.node.target("a") },
    });
    await want({ b: { fsGroup: 3000 } });
    expect(groups("b")).to.deep.equal(["3000"]);
    expect(there.driver.kinds.filter((kind) => kind === "stage")).to.have.length(1);
  });

  it("a mount that is there and comes to ask for another group than the others stays, and is not ready", async () => {
    await want({ a: { fsGroup: 2000 }, b: { fsGroup: 2000 } });
    const bind = there.node.mountAt(there.node.target("b"))?.id;
    const plan = await want({ a: { fsGroup: 2000 }, b: { fsGroup: 3000 } });
    const [volume] = plan.volumes.values();
    expect(volume && summaryOf(volume)).to.deep.include({ ready: "False", reason: "FsGroupConflict" });
    expect([groups("b"), there.node.mountAt(there.node.target("b"))?.id]).to.deep.equal([["2000"], bind]);
    const after = await want({ a: { fsGroup: 3000 }, b: { fsGroup: 3000 } });
    expect(groups("b")).to.deep.equal(["3000"]);
    const [mended] = after.volumes.values();
    expect(mended && summaryOf(mended).ready).to.equal("True");
  });

  it("one without a group takes them as they are, and nothing is taken back when nobody asks any more", async () => {
    await want({ a: { fsGroup: 2000 }, b: {} });
    expect(groups("b")).to.deep.equal(["2000"]);
    await want({ b: {} });
    expect(groups("b")).to.deep.equal(["2000"]);
    expect(there.node.log).to.have.length(1);
  });

  it("another group of the same mount is brought about under it, at once", async () => {
    await want({ a: { fsGroup: 2000 } });
    const bind = there.node.mountAt(there.node.target("a"))?.id;
    await want({ a: { fsGroup: 3000 } });
    expect(groups("a")).to.deep.equal(["3000"]);
    expect(there.node.mountAt(there.node.target("a"))?.id).to.equal(bind);
    expect(there.driver.kinds).to.deep.equal(["stage", "publish"]);
  });

  it("what one mount has given to another group is not on record as it was for the others", async () => {
    await want({ a: { fsGroup: 2000 }, b: { fsGroup: 2000 } });
    await want({ a: { fsGroup: 3000 }, b: {} });
    expect(groups("b")).to.deep.equal(["3000"]);
    await want({ b: { fsGroup: 2000 } });
    expect(groups("b")).to.deep.equal(["2000"]);
  });

  it("another group waits for a mount that is to go and is still used", async () => {
    await want({ a: { fsGroup: 2000 } });
    const held = execFileSync("sh", ["-c", 'sleep 60 <"$0" >/dev/null 2>&1 & echo $!', there.node.target("a")]);
    try {
      await want({ b: { fsGroup: 3000 } });
      expect(await why("b")).to.deep.include({
        reason: "FsGroupConflict",
        on: { kind: "Mount", name: there.node.target("a") },
      });
      expect(groups("a")).to.deep.equal(["2000"]);
    } finally {
      process.kill(Number(held));
    }
  });

  it("what is read-only stays as it is, and so does the volume of a driver that wants it to", async () => {
    await want({ a: { fsGroup: 2000, readOnly: true } });
    expect(groups("a")).to.deep.equal(["0"]);
    await want({ a: { fsGroup: 2000 }, b: { fsGroup: 3000 } }, { supportsFSGroup: false });
    expect([groups("a"), groups("b")]).to.deep.equal([["0"], ["0"]]);
    expect(there.node.log).to.deep.equal([]);
  });

  it("where most of it refuses, it is mounted all the same, and that is on record until it was given anew", async () => {
    const { host } = there.node;
    const effects = host.effects.bind(host);
    let result: OwnershipResult = { entries: 2, failed: 1, examples: ["/f: EPERM"] };
    there.node.host = {
      ...host,
      effects: (operation) => ({ ...effects(operation), ownership: { give: () => Promise.resolve(result) } }),
    };
    const given = async (fsGroup: number) => {
      await want({ a: { fsGroup } });
      expect(there.node.mountAt(there.node.target("a"))).not.to.equal(undefined);
      return (await there.record())?.targets[0]?.published?.refusedGroup;
    };
    expect(await given(2000)).to.equal(undefined);
    result = { entries: 4, failed: 3, examples: ["/f: EPERM", "/g: EPERM"] };
    expect(await given(3000)).to.deep.equal({ failed: 3, entries: 4, example: "/g: EPERM" });
    result = { entries: 4, failed: 1, examples: ["/: EPERM"], rootFailed: true };
    expect(await given(4000)).to.deep.equal({ failed: 1, entries: 4, example: "/: EPERM" });
    result = { entries: 4, failed: 0, examples: [] };
    expect(await given(5000)).to.equal(undefined);
  });

  it("an agent that was ended in the middle begins again", async () => {
    fill();
    const { host } = there.node;
    const effects = host.effects.bind(host);
    there.node.host = {
      ...host,
      effects: (operation) => ({
        ...effects(operation),
        ownership: { give: () => Promise.reject(new Error("ended here")) },
      }),
    };
    await want({ a: { fsGroup: 2000, fsGroupChangePolicy: "OnRootMismatch" } });
    expect(there.node.mountAt(there.node.target("a")), "nobody sees it before").to.equal(undefined);
    expect((await there.record())?.targets[0]?.published).to.have.property("identity");
    await there.node.restart();
    await there.node.converge();
    expect(groups("a")).to.deep.equal(["2000", "d 2000", "d/f 2000"]);
    expect(there.driver.kinds).to.deep.equal(["stage", "publish"]);
  });

  it("a driver that gives them itself is told the group at stage and publish, and nothing is changed here", async () => {
    there.driver.capabilities = { ...there.driver.capabilities, volumeMountGroup: true };
    await want({ a: { fsGroup: 2000 } });
    const asked = there.driver.requests.map(({ call, capability }) => [
      call,
      (capability as { volume: object }).volume,
    ]);
    const volume = { kind: "mount", fsType: "", mountFlags: [], mountGroup: "2000" };
    expect(asked).to.deep.equal([
      ["stage", volume],
      ["publish", volume],
    ]);
    expect(groups("a")).to.deep.equal(["0"]);
    expect(there.node.log).to.deep.equal([]);
  });

  it("such a driver is told another group only by staging anew", async () => {
    there.driver.capabilities = { ...there.driver.capabilities, volumeMountGroup: true };
    await want({ a: { fsGroup: 2000 } });
    await want({ a: { fsGroup: 2000 }, b: { fsGroup: 3000 } });
    expect((await why("b"))?.reason).to.equal("FsGroupConflict");
    await want({ a: {} });
    expect(there.driver.kinds).to.deep.equal(["stage", "publish"]);
    await want({ a: { fsGroup: 3000 } });
    expect(there.driver.kinds.slice(2)).to.deep.equal(["unpublish", "unstage", "stage", "publish"]);
    expect(there.driver.requests.at(-1)).to.have.nested.property("capability.volume.mountGroup", "3000");
  });

  it("a file system that the driver publishes anew is given to the group again", async () => {
    await want({ a: { fsGroup: 2000 } });
    execFileSync("umount", [await there.publishedFor("a")]);
    chmodSync(there.node.target("a"), 0o755);
    await there.node.converge();
    expect(there.driver.kinds.slice(2)).to.deep.equal(["publish"]);
    expect(lstatSync(there.node.target("a")).mode & 0o2070).to.equal(0o2070);
  });
});
