// csi-sanity against real drivers: that our way of running one is right, and that our own keeps to the specification.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type DriverProgram, hostPath, loopXfs, type RunningDriver, startDriver } from "../../hack/lib/csi/driver.ts";
import { type CSIStorage, csiStorage } from "../../hack/lib/csi/storage.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { type PretendHost, startPretendHost } from "../../hack/lib/pretend-node/node.ts";
import { locateTool } from "../../hack/lib/tools/locate.ts";
import { need } from "../lib/asserts/requirements.ts";
import { prepare } from "../lib/cluster/cluster.ts";
import { needXfsprogs } from "../lib/csi/csi-needs.ts";
import { runSanity } from "../lib/csi/csi-sanity.ts";

const options = { env: process.env, report: (line: string) => console.log(`  ${line}`) };

slowSuite("csi-sanity", () => {
  let sanity: string;
  let directory: string;
  let host: PretendHost;
  let driver: RunningDriver | undefined;
  let storage: CSIStorage;

  before(async function () {
    prepare(this);
    need(this, "loop-devices");
    sanity = await locateTool("csi-sanity", options);
  });
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "nodevolume-sanity-"));
    storage = csiStorage(join(directory, "storage"));
    host = await startPretendHost("sanity");
  });
  afterEach(async () => {
    await driver?.stop();
    driver = undefined;
    await host.stop();
    storage[Symbol.dispose]();
    rmSync(directory, { recursive: true });
  });

  const passes = async (program: DriverProgram, accessType: "mount" | "block", tests: number) => {
    driver = await startDriver(host, program, { logs: directory, env: process.env });
    const { passed, failures } = await runSanity(host, sanity, program.name, accessType);
    expect(failures).to.equal("");
    expect(passed).to.equal(tests);
    expect((await host.mounts()).filter((line) => line.includes("/sanity/"))).to.deep.equal([]);
    expect(storage.loops()).to.deep.equal([]);
  };

  for (const accessType of ["mount", "block"] as const) {
    it(`passes on the host-path driver, ${accessType}`, async () => {
      const program = await locateTool("hostpathplugin", options);
      const state = join(directory, "state");
      mkdirSync(state);
      await passes(hostPath("node-1", program, state), accessType, 75);
    });

    for (const [flags, tests] of [
      [[], 57],
      [["--no-attach"], 49],
      [["--no-stage"], 52],
    ] as const) {
      it(`passes on loop-xfs, ${[accessType, ...flags].join(" ")}`, async function () {
        const xfsprogs = await needXfsprogs(this);
        await passes(loopXfs("node-1", { storage, xfsprogs, flags }), accessType, tests);
      });
    }
  }
});
