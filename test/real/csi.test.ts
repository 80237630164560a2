import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { type IntentInput, intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { until } from "../../hack/lib/until.ts";
import { VolumeError } from "../../src/errors.ts";
import { FakeCSIDriver } from "../lib/fake-csi-driver.ts";
import type { RealNode } from "../lib/real-node.ts";
import { withNode } from "../lib/with-node.ts";

const name = "node.volume-1";

describe("volumes of a CSI driver, on the real kernel", () => {
  let node: RealNode;
  let driver: FakeCSIDriver;
  withNode((given) => {
    node = given;
    driver = new FakeCSIDriver();
    node.drivers = driver;
  });

  const csi = () => ({ driver: driver.name, volumeHandle: "vol-1", accessMode: "ReadWriteOnce" as const });
  const volume = (spec: Partial<IntentInput> & { readonly of?: object } = {}) => {
    const { of = {}, ...more } = spec;
    return intent({
      source: { csi: { driver: driver.name, volumeHandle: "vol-1" } },
      grant: { id: "grant-1", csi: { ...csi(), ...of } },
      mounts: [{ path: node.target("a") }, { path: node.target("b") }],
      ...more,
    });
  };
  /** Beneath the CSI directory, with what is in it. */
  const left = () => readdirSync(`${node.path}/csi`, { recursive: true });
  const publishedFor = async (target: string) => {
    const record = (await node.journal()).records.get(name);
    return record?.targets.find(({ path }) => path === node.target(target))?.published?.path ?? "";
  };
  const released = async () => {
    node.want(volume({ deleting: true, generation: 2 }));
    return node.volume(name);
  };

  it("staged once, published for each target, bound, taken back in order, nothing is left", async () => {
    node.want(volume());
    await node.converge();
    expect(driver.kinds).to.deep.equal(["stage", "publish", "publish"]);
    writeFileSync(`${node.target("a")}/token`, "data");
    expect(readdirSync(node.target("b"))).to.deep.equal(["token"]);
    expect((await released()).phase).to.equal("released");
    expect(driver.kinds.slice(3)).to.deep.equal(["unpublish", "unpublish", "unstage"]);
    expect(node.mounts()).to.deep.equal([]);
    expect(left()).to.deep.equal([]);
    expect(existsSync(node.target("a"))).to.equal(false);
  });

  it("a driver without STAGE_UNSTAGE is only asked to publish", async () => {
    driver.capabilities = { ...driver.capabilities, stageUnstage: false };
    driver.directory = `${node.path}/src`;
    node.want(volume());
    await node.converge();
    expect(readdirSync(node.target("a"))).to.deep.equal(["here"]);
    expect(driver.requests[0]).not.to.have.property("stagingPath");
    expect((await released()).phase).to.equal("released");
    expect(driver.kinds).to.deep.equal(["publish", "publish", "unpublish", "unpublish"]);
    expect(left()).to.deep.equal([]);
  });

  it("a target alone is repaired without the driver", async () => {
    node.want(volume());
    await node.converge();
    execFileSync("umount", [node.target("a")]);
    await node.converge();
    expect(node.mountAt(node.target("a"))).not.to.equal(undefined);
    expect(driver.kinds).to.deep.equal(["stage", "publish", "publish"]);
  });

  it("what the driver published, and staged, is asked for again when it went", async () => {
    node.want(volume());
    await node.converge();
    writeFileSync(`${node.target("a")}/token`, "data");
    const bind = node.mountAt(node.target("a"))?.id;
    execFileSync("umount", [await publishedFor("a")]);
    await node.converge();
    expect(node.mountAt(node.target("a"))?.id, "it shows the volume still").to.equal(bind);
    expect(driver.kinds.slice(3)).to.deep.equal(["publish"]);
    const staging = (await node.journal()).records.get(name)?.stage?.path ?? "";
    execFileSync("umount", [staging]);
    const after = (await node.converge()).volumes.get(name);
    expect(driver.kinds.slice(4, 5)).to.deep.equal(["stage"]);
    expect(after?.view.stage.truth).to.equal("mounted");
    expect((await released()).phase).to.equal("released");
  });

  it("read-only is published read-only, and a change of it is published anew", async () => {
    node.want(volume({ mounts: [{ path: node.target("a"), readOnly: true }] }));
    await node.converge();
    expect(driver.requests.at(-1)).to.include({ call: "publish", readOnly: true });
    expect(() => writeFileSync(`${node.target("a")}/x`, "")).to.throw("EROFS");
    node.want(volume({ mounts: [{ path: node.target("a") }], generation: 2 }));
    await node.converge();
    expect(driver.kinds.slice(2)).to.deep.equal(["unpublish", "publish"]);
    writeFileSync(`${node.target("a")}/x`, "");
  });

  it("secrets, contexts and options reach the driver, secrets nothing else", async () => {
    node.secrets.set("stage", new Map([["password", "canary-1"]]));
    node.secrets.set("publish", new Map([["password", "canary-2"]]));
    const ref = (of: string) => ({ namespace: "storage", name: of });
    const of = {
      fsType: "xfs",
      mountOptions: ["discard"],
      volumeAttributes: { share: "one" },
      nodeStageSecretRef: ref("stage"),
      nodePublishSecretRef: ref("publish"),
    };
    const grant = { id: "grant-1", csi: { ...csi(), ...of }, publishContext: { device: "sdb" } };
    node.want(volume({ grant, mountOptions: ["noatime"] }));
    await node.converge();
    const [stage, publish] = driver.requests;
    expect(stage?.["secrets"]).to.deep.equal(new Map([["password", "canary-1"]]));
    expect(publish?.["secrets"]).to.deep.equal(new Map([["password", "canary-2"]]));
    expect(stage?.["publishContext"]).to.deep.equal(new Map([["device", "sdb"]]));
    expect(stage?.["volumeContext"]).to.deep.equal(new Map([["share", "one"]]));
    const access = { mode: "SINGLE_NODE_WRITER" };
    const filesystem = { kind: "mount", fsType: "xfs", mountFlags: ["discard", "noatime"] };
    expect(stage?.["capability"]).to.deep.equal({ access, volume: filesystem });
    expect(JSON.stringify([...(await node.journal()).records.values()])).not.to.include("canary");
  });

  describe("a reply is believed only if the table agrees", () => {
    it("published, but not mounted: taken back, asked again", async () => {
      driver.fail("publish", "before");
      node.want(volume({ mounts: [{ path: node.target("a") }] }));
      const first = await node.volume(name);
      expect(first.failure?.reason).to.equal("DriverReplyFalse");
      node.forgetFailures();
      await node.converge();
      expect(driver.kinds).to.deep.equal(["stage", "publish", "unpublish", "publish"]);
    });

    for (const call of ["unpublish", "unstage"] as const) {
      it(`${call} said to be done, and mounted still: in use`, async () => {
        node.want(volume());
        await node.converge();
        driver.fail(call, "before");
        const first = await released();
        expect(first.failure?.reason).to.equal("DriverReplyFalse");
        expect(first.view.inUse).to.equal(true);
        node.forgetFailures();
        expect((await node.volume(name)).phase).to.equal("released");
      });
    }
  });

  describe("calls without an answer", () => {
    const lost = () => new VolumeError("TimedOut", "uncertain", "no answer in time");
    beforeEach(() => {
      node.deadlineMs = 300;
    });
    /** Goes on until the volume is released, and says for what it waited. */
    const releasedAtLast = async () => {
      const reasons = new Set<string>();
      node.want(volume({ deleting: true, generation: 2 }));
      await until("the volume to be released", 10_000, async () => {
        const found = await node.volume(name);
        if (found.failure !== undefined) reasons.add(found.failure.reason);
        expect(found.view.inUse).to.equal(found.phase !== "released");
        node.forgetFailures();
        return found.phase === "released";
      });
      return reasons;
    };

    for (const call of ["stage", "publish"] as const) {
      for (const when of ["before", "after"] as const) {
        it(`${call}, lost ${when} it was done: tried again if wanted`, async () => {
          driver.fail(call, when, lost());
          node.want(volume());
          expect((await node.volume(name)).failure?.reason).to.equal("TimedOut");
          node.forgetFailures();
          await node.converge();
          expect(node.mountAt(node.target("b"))).not.to.equal(undefined);
        });

        it(`${call}, lost ${when} it was done: undone if not, and released one deadline later, also by the next agent`, async () => {
          driver.fail(call, when, lost());
          node.want(volume({ mounts: [{ path: node.target("a") }] }));
          await node.converge();
          await node.restart();
          const from = performance.now();
          const reasons = await releasedAtLast();
          expect([...reasons]).to.deep.equal(["DriverMayStillAct"]);
          expect(performance.now() - from).to.be.at.least(290);
          expect(driver.kinds.at(-1)).to.equal("unstage");
          expect(left()).to.deep.equal([]);
        });
      }
    }

    it("a call that takes effect late is undone", async () => {
      const path = () => driver.requests.findLast(({ call }) => call === "publish")?.["targetPath"] as string;
      driver.fail("publish", "before", lost());
      node.want(volume({ mounts: [{ path: node.target("a") }] }));
      await node.converge();
      node.forgetFailures();
      node.want(volume({ deleting: true, generation: 2 }));
      expect((await node.volume(name)).failure?.reason).to.equal("DriverMayStillAct");
      execFileSync("mkdir", ["-p", path()]);
      execFileSync("mount", ["-t", "tmpfs", "late", path()]);
      await releasedAtLast();
      expect(node.mounts()).to.deep.equal([]);
    });
  });

  it("no unstage while a target cannot be unpublished (law L3)", async () => {
    node.want(volume());
    await node.converge();
    driver.fail("unpublish", "before", new VolumeError("DriverFailed", "final", "no"));
    const stuck = await released();
    expect(stuck.failure?.reason).to.equal("DriverFailed");
    expect(driver.kinds).not.to.include("unstage");
  });

  it("a driver that is not registered: nothing is done, and it goes on when it is", async () => {
    driver.registered = false;
    node.want(volume());
    expect((await node.volume(name)).failure?.reason).to.equal("DriverNotRegistered");
    expect((await node.journal()).records.get(name)).to.equal(undefined);
    driver.registered = true;
    node.forgetFailures();
    await node.converge();
    driver.registered = false;
    const held = await released();
    expect([held.failure?.reason, held.view.inUse]).to.deep.equal(["DriverNotRegistered", true]);
    driver.registered = true;
    node.forgetFailures();
    expect((await node.volume(name)).phase).to.equal("released");
  });

  it("is released by the record alone, when the spec is not understood any more", async () => {
    node.want(volume());
    await node.converge();
    node.wantInvalid({ name, uid: "uid-1", generation: 2, deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect((await node.volume(name)).phase).to.equal("released");
    expect(left()).to.deep.equal([]);
  });
});
