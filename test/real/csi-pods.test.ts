import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { noProblems } from "../../src/agent/model/actual-volume.ts";
import { asMountPath } from "../../src/agent/model/identities.ts";
import type { IntentPod } from "../../src/api/types.gen.ts";
import { type DriverNode, volumeName, withDriverNode } from "../lib/kernel/driver-node.ts";

describe("volumes of a CSI driver for pods, on the real kernel", () => {
  let there: DriverNode;
  let generation = 0;
  withDriverNode((given) => {
    there = given;
  });

  const at = (uid: string) => there.node.pods.target(uid);
  const volumeFor = (pods: { [uid: string]: Partial<IntentPod> }, more: object = {}) => {
    const names = { namespace: "team", volume: "data", readOnly: false };
    const listed = Object.entries(pods).map(([uid, own]) => ({ uid, name: `pod-${uid}`, ...names, ...own }));
    return there.volume({ mounts: [], pods: listed, of: { supportsFSGroup: true }, generation: ++generation, ...more });
  };
  const want = (pods: { [uid: string]: Partial<IntentPod> }) => {
    there.node.want(volumeFor(pods));
    return there.node.volume(volumeName);
  };
  const ask = (...uids: string[]) => {
    there.node.pods.ask(...uids);
    return there.node.volume(volumeName);
  };
  const giveBack = (...uids: string[]) => {
    there.node.pods.giveBack(...uids);
    return there.node.volume(volumeName);
  };

  it("staged once before any asks, published and bound for each, taken back one by one", async () => {
    await want({ a: {}, b: {} });
    expect(there.driver.kinds).to.deep.equal(["stage"]);
    await ask("a", "b");
    writeFileSync(`${at("a")}/shared`, "by all");
    expect(readFileSync(`${at("b")}/shared`, "utf8")).to.equal("by all");
    expect(there.driver.kinds).to.deep.equal(["stage", "publish", "publish"]);
    await giveBack("a");
    expect([existsSync(at("a")), existsSync(`${at("b")}/shared`)]).to.deep.equal([false, true]);
    there.node.want(volumeFor({ b: {} }, { deleting: true }));
    const held = await there.node.volume(volumeName);
    expect([held.phase, held.problems.targets.get(asMountPath(at("b")))?.reason]).to.deep.equal([
      "tearDown",
      "ConsumerStillRunning",
    ]);
    expect((await giveBack("b")).phase).to.equal("released");
    expect([there.node.mounts(), there.left()]).to.deep.equal([[], []]);
  });

  it("by a part of it, which is bound again when it goes, without the driver", async () => {
    await want({ whole: {}, part: { subPath: "deep/part", readOnly: true } });
    await ask("whole");
    expect((await ask("part")).failure?.reason).to.equal("SubPathMissing");
    mkdirSync(`${at("whole")}/deep/part`, { recursive: true });
    writeFileSync(`${at("whole")}/deep/part/here`, "");
    there.node.forgetFailures();
    await there.node.converge();
    expect(existsSync(`${at("part")}/here`)).to.equal(true);
    expect(() => writeFileSync(`${at("part")}/x`, "")).to.throw("EROFS");
    const calls = there.driver.kinds.length;
    execFileSync("umount", [at("part")]);
    await there.node.converge();
    expect(existsSync(`${at("part")}/here`)).to.equal(true);
    expect(there.driver.kinds).to.have.length(calls);
  });

  it("of one group at a time", async () => {
    await want({ a: { fsGroup: 2000 }, b: { fsGroup: 3000 } });
    await ask("a");
    const volume = await ask("b");
    expect(volume.problems.targets.get(asMountPath(at("b")))?.reason).to.equal("FsGroupConflict");
    expect(execFileSync("stat", ["-c", "%g", at("a")], { encoding: "utf8" }).trim()).to.equal("2000");
    await want({ b: { fsGroup: 3000 } });
    await giveBack("a");
    expect((await there.node.volume(volumeName)).problems).to.deep.equal(noProblems);
    expect(execFileSync("stat", ["-c", "%g", at("b")], { encoding: "utf8" }).trim()).to.equal("3000");
  });

  it("are known again when the journal is lost", async () => {
    await want({ a: {}, b: { subPath: "part" } });
    await ask("a");
    mkdirSync(`${at("a")}/part`);
    await ask("b");
    const before = there.node.mounts().map(({ id }) => id);
    await there.node.restart();
    rmSync(`${there.node.stateDir}/journal`);
    await there.node.converge();
    expect(there.node.mounts().map(({ id }) => id)).to.deep.equal(before);
    expect((await there.record())?.targets.map(({ pod }) => pod?.uid)).to.deep.equal(["a", "b"]);
    await giveBack("a", "b");
    expect(existsSync(at("b"))).to.equal(false);
  });
});
