// What the other tests rest on: that loop-xfs does what it says, fails as it is told, and forgets nothing when it is
// killed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { loopXfs, type RunningDriver, startDriver } from "../../hack/lib/csi/driver.ts";
import { csiDir } from "../../hack/lib/csi/paths.ts";
import { type CSIStorage, csiStorage } from "../../hack/lib/csi/storage.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { type PretendHost, startPretendHost } from "../../hack/lib/pretend-node/node.ts";
import type { Xfsprogs } from "../../hack/lib/tools/xfsprogs.ts";
import { until } from "../../hack/lib/until.ts";
import { codes, type Fault, orderFaults } from "../drivers/lib/faults.ts";
import { readRecord } from "../drivers/lib/record.ts";
import { type CSICalls, csiCalls, mountable, raw } from "../lib/csi/csi-calls.ts";
import { needXfsprogs } from "../lib/csi/csi-needs.ts";

const stagingTargetPath = join(csiDir, "staging");
const targetPath = join(csiDir, "target");
const MiB = 1024 * 1024;

describe("loop-xfs", () => {
  let directory: string;
  let xfsprogs: Xfsprogs;
  let host: PretendHost;
  let storage: CSIStorage;
  let driver: RunningDriver;
  let csi: CSICalls;

  before(async function () {
    this.timeout(120_000);
    xfsprogs = await needXfsprogs(this);
  });
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "nodevolume-loop-xfs-"));
    storage = csiStorage(join(directory, "storage"));
    host = await startPretendHost("node-1");
    driver = await startDriver(host, loopXfs("node-1", { storage, xfsprogs }), { logs: directory, env: process.env });
    csi = csiCalls(driver.outside);
  });
  afterEach(async () => {
    csi[Symbol.dispose]();
    await driver.stop();
    await host.stop();
    storage[Symbol.dispose]();
    rmSync(directory, { recursive: true });
  });

  const create = async (name: string, capability: object) => {
    const request = { name, capacityRange: { requiredBytes: String(20 * MiB) }, volumeCapabilities: [capability] };
    const { volume } = await csi.call<{ volume: { volumeId: string } }>("createVolume", request);
    return volume.volumeId;
  };
  const attach = async (volumeId: string, volumeCapability: object, nodeId = "node-1") => {
    const request = { volumeId, nodeId, volumeCapability };
    const { publishContext } = await csi.call<{ publishContext: Map<string, string> }>(
      "controllerPublishVolume",
      request,
    );
    return publishContext;
  };
  const codeOf = async (promise: Promise<unknown>) =>
    promise.then(
      () => 0,
      (error: { code: number }) => error.code,
    );
  const effects = () => readRecord(storage.record).filter((line) => line.kind === "end");

  it("makes, mounts and grows a real file system, and keeps it through a kill at any time", async () => {
    const volumeCapability = mountable({ volumeMountGroup: "4711" });
    const volumeId = await create("a", volumeCapability);
    const publishContext = await attach(volumeId, volumeCapability);
    const here = { volumeId, volumeCapability, publishContext, stagingTargetPath };
    await csi.call("nodeStageVolume", here);
    driver.process.kill("SIGKILL");
    await driver.restart();
    await csi.call("nodeStageVolume", here);
    await csi.call("nodePublishVolume", { ...here, targetPath });
    expect(await host.run("stat", "-c", "%g %A", targetPath)).to.equal("4711 drwxrwsr-x\n");
    await host.run("sh", "-c", `echo kept >${targetPath}/file`);
    const before = Number(await host.run("stat", "-fc", "%b", targetPath));

    const capacityRange = { requiredBytes: String(80 * MiB) };
    await csi.call("controllerExpandVolume", { volumeId, capacityRange });
    driver.process.kill("SIGKILL");
    await driver.restart();
    await csi.call("nodeExpandVolume", { volumeId, volumePath: targetPath, capacityRange });
    expect(Number(await host.run("stat", "-fc", "%b", targetPath))).to.be.greaterThan(2 * before);

    await csi.call("nodeUnpublishVolume", { volumeId, targetPath });
    await csi.call("nodeUnstageVolume", { volumeId, stagingTargetPath });
    expect(storage.loops()).to.deep.equal([]);
    await csi.call("nodeStageVolume", here);
    expect(await host.run("cat", join(stagingTargetPath, "file"))).to.equal("kept\n");
    expect(effects().filter(({ what }) => what === "formatted")).to.have.length(1);
    await csi.call("nodeUnstageVolume", { volumeId, stagingTargetPath });
  });

  it("shows a missing attachment, another node's, and one that was made anew", async () => {
    const volumeCapability = mountable();
    const volumeId = await create("b", volumeCapability);
    const stage = (publishContext: Map<string, string>) =>
      codeOf(csi.call("nodeStageVolume", { volumeId, volumeCapability, publishContext, stagingTargetPath }));
    expect(await stage(new Map())).to.equal(codes.FAILED_PRECONDITION);
    const first = await attach(volumeId, volumeCapability);
    await csi.call("controllerUnpublishVolume", { volumeId, nodeId: "node-1" });
    await attach(volumeId, volumeCapability);
    expect(await stage(first)).to.equal(codes.FAILED_PRECONDITION);
    expect(await codeOf(attach(volumeId, volumeCapability, "nowhere"))).to.equal(codes.NOT_FOUND);
  });

  it("is for one node only, and says when it is taken away while it is in use", async () => {
    const other = await startPretendHost("node-2");
    const program = loopXfs("node-2", { storage, xfsprogs });
    const second = await startDriver(other, program, { logs: directory, env: process.env });
    try {
      const volumeId = await create("c", raw());
      const publishContext = await attach(volumeId, raw());
      expect(await codeOf(attach(volumeId, raw(), "node-2"))).to.equal(codes.FAILED_PRECONDITION);
      const here = { volumeId, volumeCapability: raw(), publishContext, stagingTargetPath };
      await csi.call("nodeStageVolume", here);
      await csi.call("nodePublishVolume", { ...here, targetPath });
      expect(await host.run("blockdev", "--getsize64", targetPath)).to.equal(`${20 * MiB}\n`);
      await csi.call("controllerUnpublishVolume", { volumeId, nodeId: "node-1" });
      expect(effects().at(-1)).to.deep.include({
        what: "detached",
        detail: { id: volumeId, node: "node-1", inUse: true },
      });
      await attach(volumeId, raw(), "node-2");
      await csi.call("nodeUnpublishVolume", { volumeId, targetPath });
    } finally {
      await second.stop();
      await other.stop();
    }
  });

  const faults: { [title: string]: { fault: Fault; code: number; done: boolean } } = {
    "a code before": {
      fault: { kind: "code", when: "before", code: "UNAVAILABLE" },
      code: codes.UNAVAILABLE,
      done: false,
    },
    "a code after": { fault: { kind: "code", when: "after", code: "INTERNAL" }, code: codes.INTERNAL, done: true },
    "no answer": { fault: { kind: "silence", when: "before" }, code: codes.DEADLINE_EXCEEDED, done: false },
    "no answer, but done": { fault: { kind: "silence", when: "after" }, code: codes.DEADLINE_EXCEEDED, done: true },
    "a late answer": { fault: { kind: "delay", when: "after", ms: 200 }, code: 0, done: true },
    "OK without doing it": { fault: { kind: "lie" }, code: 0, done: false },
    "a huge answer": { fault: { kind: "huge", bytes: 5 * MiB }, code: 0, done: true },
  };
  for (const [title, { fault, code, done }] of Object.entries(faults)) {
    // What is never answered takes the three seconds of the deadline.
    const test: typeof slow = code === codes.DEADLINE_EXCEEDED ? slow : it;
    test(`fails as it is told, once: ${title}`, async () => {
      const volumeCapability = mountable();
      const volumeId = await create("d", volumeCapability);
      const publishContext = await attach(volumeId, volumeCapability);
      const stage = () =>
        codeOf(csi.call("nodeStageVolume", { volumeId, volumeCapability, publishContext, stagingTargetPath }, 3_000));
      orderFaults(storage.control, [{ id: "1", rpc: "NodeStageVolume", volume: volumeId, times: 1, fault }]);
      expect(await stage()).to.equal(code);
      expect(effects().some(({ what }) => what === "staged")).to.equal(done);
      expect(await stage()).to.equal(0);
      await csi.call("nodeUnstageVolume", { volumeId, stagingTargetPath });
    });
  }

  it("holds a call until the rule is gone", async () => {
    const volumeId = await create("e", raw());
    const publishContext = await attach(volumeId, raw());
    const here = { volumeId, volumeCapability: raw(), publishContext, stagingTargetPath };
    orderFaults(storage.control, [{ id: "1", rpc: "NodeStageVolume", fault: { kind: "hold", when: "before" } }]);
    let answered = false;
    const held = codeOf(csi.call("nodeStageVolume", here)).finally(() => {
      answered = true;
    });
    await until("the call to be held", 5_000, () => readRecord(storage.record).some(({ kind }) => kind === "fault"));
    // Calls that come later are answered earlier.
    await csi.call("nodeGetInfo");
    expect(answered).to.equal(false);
    orderFaults(storage.control, []);
    expect(await held).to.equal(0);
    await csi.call("nodeUnstageVolume", { volumeId, stagingTargetPath });
  });

  it("records no secret, but that there was one", async () => {
    const volumeId = await create("f", raw());
    const secrets = new Map([["password", "canary"]]);
    const volumeContext = new Map([["csi.storage.k8s.io/serviceAccount.tokens", "canary"]]);
    const request = { volumeId, volumeCapability: raw(), stagingTargetPath, secrets, volumeContext };
    await codeOf(csi.call("nodeStageVolume", request));
    const text = JSON.stringify(readRecord(storage.record));
    expect(text).to.include('"secrets":["password"]').and.not.include("canary");
  });
});
