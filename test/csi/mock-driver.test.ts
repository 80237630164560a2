// That the mock driver of csi-test fails as its hooks say, on a node of ours.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { mockDriver, type RunningDriver, startDriver } from "../../hack/lib/csi/driver.ts";
import { csiDir } from "../../hack/lib/csi/paths.ts";
import { type PretendHost, startPretendHost } from "../../hack/lib/pretend-node/node.ts";
import { locateTool } from "../../hack/lib/tools/locate.ts";
import { codes } from "../drivers/lib/faults.ts";
import { prepare } from "../lib/cluster/cluster.ts";
import { csiCalls, mountable } from "../lib/csi/csi-calls.ts";
import { writeHooks } from "../lib/csi/mock-hooks.ts";

describe("the mock driver with hooks", () => {
  let program: string;
  let directory: string;
  let host: PretendHost;
  let driver: RunningDriver | undefined;

  before(async function () {
    prepare(this);
    program = await locateTool("mock-driver", { env: process.env, report: (line) => console.log(`  ${line}`) });
  });
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "nodevolume-mock-"));
    host = await startPretendHost("node-1");
  });
  afterEach(async () => {
    await driver?.stop();
    driver = undefined;
    await host.stop();
    rmSync(directory, { recursive: true });
  });

  it("is UNAVAILABLE twice, and then stages", async () => {
    const hooks = join(directory, "hooks.yaml");
    writeHooks(hooks, { nodeStageVolumeStart: { code: "UNAVAILABLE", times: 2 } });
    driver = await startDriver(host, mockDriver(program, hooks), { logs: directory, env: process.env });
    using csi = csiCalls(driver.outside);
    const volumeCapability = mountable();
    const made = await csi.call<{ volume: { volumeId: string } }>("createVolume", {
      name: "a",
      volumeCapabilities: [volumeCapability],
    });
    const { volumeId } = made.volume;
    const { nodeId } = await csi.call<{ nodeId: string }>("nodeGetInfo");
    expect(nodeId).to.equal(driver.nodeID);
    const request = { volumeId, nodeId, volumeCapability };
    const { publishContext } = await csi.call<{ publishContext: Map<string, string> }>(
      "controllerPublishVolume",
      request,
    );
    const stage = () =>
      csi.call("nodeStageVolume", { volumeId, volumeCapability, publishContext, stagingTargetPath: csiDir }).then(
        () => 0,
        (error: { code: number }) => error.code,
      );
    expect([await stage(), await stage(), await stage()]).to.deep.equal([codes.UNAVAILABLE, codes.UNAVAILABLE, 0]);
  });
});
