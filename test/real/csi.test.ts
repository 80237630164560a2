import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { NodeVolumeIntent } from "../../src/api/types.gen.ts";
import { VolumeError } from "../../src/errors.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/kernel/driver-node.ts";

describe("volumes of a CSI driver, on the real kernel", () => {
  let there: DriverNode;
  withDriverNode((given) => {
    there = given;
  });

  it("staged once, published for each target, bound, taken back in order, nothing is left", async () => {
    there.node.want(there.volume());
    await there.node.converge();
    expect(there.driver.kinds).to.deep.equal(["stage", "publish", "publish"]);
    writeFileSync(`${there.node.target("a")}/token`, "data");
    expect(readdirSync(there.node.target("b"))).to.deep.equal(["token"]);
    expect((await there.released()).phase).to.equal("released");
    expect(there.driver.kinds.slice(3)).to.deep.equal(["unpublish", "unpublish", "unstage"]);
    expect(there.node.mounts()).to.deep.equal([]);
    expect(there.left()).to.deep.equal([]);
    expect(existsSync(there.node.target("a"))).to.equal(false);
  });

  it("a driver without STAGE_UNSTAGE is only asked to publish", async () => {
    there.driver.capabilities = { ...there.driver.capabilities, stageUnstage: false };
    there.driver.directory = `${there.node.path}/src`;
    there.node.want(there.volume());
    await there.node.converge();
    expect(readdirSync(there.node.target("a"))).to.deep.equal(["here"]);
    expect(there.driver.requests[0]).not.to.have.property("stagingPath");
    expect((await there.released()).phase).to.equal("released");
    expect(there.driver.kinds).to.deep.equal(["publish", "publish", "unpublish", "unpublish"]);
    expect(there.left()).to.deep.equal([]);
  });

  it("a target alone is repaired without the driver", async () => {
    there.node.want(there.volume());
    await there.node.converge();
    execFileSync("umount", [there.node.target("a")]);
    await there.node.converge();
    expect(there.node.mountAt(there.node.target("a"))).not.to.equal(undefined);
    expect(there.driver.kinds).to.deep.equal(["stage", "publish", "publish"]);
  });

  it("what the driver published, and staged, is asked for again when it went", async () => {
    there.node.want(there.volume());
    await there.node.converge();
    writeFileSync(`${there.node.target("a")}/token`, "data");
    const bind = there.node.mountAt(there.node.target("a"))?.id;
    execFileSync("umount", [await there.publishedFor("a")]);
    await there.node.converge();
    expect(there.node.mountAt(there.node.target("a"))?.id, "it shows the volume still").to.equal(bind);
    expect(there.driver.kinds.slice(3)).to.deep.equal(["publish"]);
    const staging = (await there.node.journal()).records.get(volumeName)?.stage?.path ?? "";
    execFileSync("umount", [staging]);
    const after = (await there.node.converge()).volumes.get(volumeName);
    expect(there.driver.kinds.slice(4, 5)).to.deep.equal(["stage"]);
    expect(after?.actualState.stage.truth).to.equal("mounted");
    expect((await there.released()).phase).to.equal("released");
  });

  it("read-only is published read-only, and a change of it is published anew", async () => {
    there.node.want(there.volume({ mounts: [{ path: there.node.target("a"), readOnly: true }] }));
    await there.node.converge();
    expect(there.driver.requests.at(-1)).to.include({ call: "publish", readOnly: true });
    expect(() => writeFileSync(`${there.node.target("a")}/x`, "")).to.throw("EROFS");
    there.node.want(there.volume({ mounts: [{ path: there.node.target("a") }], generation: 2 }));
    await there.node.converge();
    expect(there.driver.kinds.slice(2)).to.deep.equal(["unpublish", "publish"]);
    writeFileSync(`${there.node.target("a")}/x`, "");
  });

  it("secrets, contexts and options reach the driver, secrets nothing else", async () => {
    there.node.secrets.set("stage", new Map([["password", "canary-1"]]));
    there.node.secrets.set("publish", new Map([["password", "canary-2"]]));
    const ref = (of: string) => ({ namespace: "storage", name: of });
    const of = {
      fsType: "xfs",
      mountOptions: ["discard"],
      volumeAttributes: { share: "one" },
      nodeStageSecretRef: ref("stage"),
      nodePublishSecretRef: ref("publish"),
    };
    const csi = { driver: there.driver.name, volumeHandle: "vol-1", accessMode: "ReadWriteOnce", ...of } as const;
    const grant = { id: "grant-1", csi, publishContext: { device: "sdb" } };
    there.node.want(there.volume({ grant, mountOptions: ["noatime"] }));
    await there.node.converge();
    const [stage, publish] = there.driver.requests;
    expect(stage?.["secrets"]).to.deep.equal(new Map([["password", "canary-1"]]));
    expect(publish?.["secrets"]).to.deep.equal(new Map([["password", "canary-2"]]));
    expect(stage?.["publishContext"]).to.deep.equal(new Map([["device", "sdb"]]));
    expect(stage?.["volumeContext"]).to.deep.equal(new Map([["share", "one"]]));
    const access = { mode: "SINGLE_NODE_WRITER" };
    const filesystem = { kind: "mount", fsType: "xfs", mountFlags: ["discard", "noatime"] };
    expect(stage?.["capability"]).to.deep.equal({ access, volume: filesystem });
    expect(JSON.stringify([...(await there.node.journal()).records.values()])).not.to.include("canary");
  });

  it("other flags of a mount take another mount, which the driver is not asked for", async () => {
    const mounts = (more: object) => [{ path: there.node.target("a"), ...more }];
    there.node.want(there.volume({ mounts: mounts({}) }));
    await there.node.converge();
    there.node.want(there.volume({ mounts: mounts({ mountOptions: ["noexec"] }), generation: 2 }));
    await there.node.converge();
    expect(there.node.mountAt(there.node.target("a"))?.options).to.include("noexec");
    expect(there.driver.kinds).to.deep.equal(["stage", "publish"]);
  });

  it("no unstage while a target cannot be unpublished (law L3)", async () => {
    there.node.want(there.volume());
    await there.node.converge();
    there.driver.fail("unpublish", "before", new VolumeError("DriverFailed", "final", "no"));
    const stuck = await there.released();
    expect(stuck.failure?.reason).to.equal("DriverFailed");
    expect(there.driver.kinds).not.to.include("unstage");
  });

  it("a driver that is not registered: nothing is done, and it goes on when it is", async () => {
    there.driver.registered = false;
    there.node.want(there.volume());
    expect((await there.node.volume(volumeName)).failure?.reason).to.equal("DriverNotRegistered");
    expect((await there.node.journal()).records.get(volumeName)).to.equal(undefined);
    there.driver.registered = true;
    there.node.forgetFailures();
    await there.node.converge();
    there.driver.registered = false;
    const held = await there.released();
    expect([held.failure?.reason, held.actualState.inUse]).to.deep.equal(["DriverNotRegistered", true]);
    there.driver.registered = true;
    there.node.forgetFailures();
    expect((await there.node.volume(volumeName)).phase).to.equal("released");
  });

  it("is released by the record alone, when the spec is not understood any more", async () => {
    there.node.want(there.volume());
    await there.node.converge();
    there.node.wantInvalid({
      name: volumeName,
      uid: "uid-1",
      generation: 2,
      deletionTimestamp: "2026-01-01T00:00:00Z",
    });
    expect((await there.node.volume(volumeName)).phase).to.equal("released");
    expect(there.left()).to.deep.equal([]);
  });

  it("of two intents that name one volume, the second waits until the first is released", async () => {
    const second = there.volume({ name: "node.volume-2", mounts: [{ path: there.node.target("c") }] });
    there.node.want(there.volume(), second);
    const plan = await there.node.converge();
    const failures = [...plan.volumes.values()].flatMap(({ failure }) => failure?.reason ?? []);
    expect(failures).to.deep.equal(["VolumeHeldElsewhere"]);
    expect(there.driver.kinds.filter((kind) => kind === "stage")).to.have.length(1);
    const first = plan.volumes.get(volumeName)?.failure === undefined ? volumeName : asVolumeName("node.volume-2");
    const deleting = (of: NodeVolumeIntent) => ({
      ...of,
      metadata: { ...of.metadata, generation: 2, deletionTimestamp: "2026-01-01T00:00:00Z" },
    });
    const wait = first === volumeName ? asVolumeName("node.volume-2") : volumeName;
    there.node.forgetFailures();
    const [gone, stays] = first === volumeName ? [there.volume(), second] : [second, there.volume()];
    there.node.want(deleting(gone), stays);
    for (let round = 0; round < 3; round++) {
      there.node.forgetFailures();
      await there.node.converge();
    }
    expect((await there.node.volume(wait)).failure).to.equal(undefined);
    expect((await there.node.volume(first)).phase).to.equal("released");
  });
});
