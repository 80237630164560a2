import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, existsSync, openSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { expect } from "chai";
import { until } from "../../../hack/lib/until.ts";
import type { ISCSIVolumeSource } from "../../../src/api/types.gen.ts";
import type { ISCSICredentials } from "../../../src/host/ports/iscsi.ts";
import type { TearDownContext } from "../../../src/plugins/api/teardown.ts";
import type { StageContext } from "../../../src/plugins/api/volume-plugin.ts";
import { attach, pathsNow } from "../../../src/plugins/iscsi/attach.ts";
import type { Chap } from "../../../src/plugins/iscsi/credentials.ts";
import { interfaceOf, portalsOf, tearDownDataOf } from "../../../src/plugins/iscsi/lun.ts";
import { detach } from "../../../src/plugins/iscsi/release.ts";
import { deviceOf, type LunDevice } from "../../../src/plugins/scsi/device-of.ts";
import { full } from "../../lib/asserts/requirements.ts";
import { soonMs } from "../../lib/kernel/agents/vm-world.ts";
import { RealNode } from "../../lib/kernel/real-node.ts";

const open: ISCSIVolumeSource = { targetPortal: "127.0.0.1", iqn: "iqn.2024-01.example:open", lun: 1 };
const secretRef = { namespace: "default", name: "chap" };
const closed: ISCSIVolumeSource = { ...open, iqn: "iqn.2024-01.example:chap", chapAuthSession: true, secretRef };
const two: ISCSIVolumeSource = { ...open, portals: ["127.0.0.2"] };
const ua = (password: string): ISCSICredentials => ({ username: "ua", password });

/** The plugin's own steps, on tgt's targets and the kernel's initiator. */
describe("LUNs of iSCSI targets", function () {
  this.timeout(soonMs);
  let node: RealNode;
  let told: string[];

  const endSessions = async () => {
    for (const session of await sessions()) await effects().iscsi.logout(session);
  };
  beforeEach(async () => {
    node = new RealNode();
    told = [];
    await endSessions(); // what the contract suite has left at its end
  });
  afterEach(async () => {
    await endSessions();
    await node[Symbol.asyncDispose]();
  });

  const effects = () => node.host.effects({ deadlineMs: 60_000, formatDeadlineMs: 60_000, onChild: async () => {} });
  const ownOf = (source: ISCSIVolumeSource) => ({
    iqn: source.iqn,
    lun: source.lun,
    interface: interfaceOf(source).name,
    portals: portalsOf(source),
  });
  async function bring(source: ISCSIVolumeSource, chap: Chap = {}): Promise<LunDevice> {
    const progress = (message: string) => void told.push(message);
    const context = { ...effects(), hostRoot: "/", progress } as unknown as StageContext;
    const lun = ownOf(source);
    const paths = await attach({ lun, source, by: interfaceOf(source), chap }, context);
    return deviceOf(paths, () => pathsNow(lun, context), context);
  }
  const undo = (source: ISCSIVolumeSource, others: readonly ISCSIVolumeSource[] = []) => {
    const context = { ...effects(), hostRoot: "/", others: () => others.map((other) => tearDownDataOf(ownOf(other))) };
    return detach(tearDownDataOf(ownOf(source)), context as unknown as TearDownContext);
  };
  const sessions = () => effects().iscsi.sessions();
  /** Of iSCSI alone: the VM has others. */
  async function disks() {
    const hosts = (await sessions()).map(({ host }) => host);
    return (await effects().scsi.look("/")).disks.filter(({ address }) => hosts.includes(address.host));
  }
  const isDisk = ({ name }: LunDevice) => existsSync(`/sys/block/${name}`);
  const reasonOf = (trying: Promise<unknown>) =>
    trying.then(
      () => "none",
      ({ reason, message }: { reason?: string; message: string }) => reason ?? message,
    );

  it("are not had by wrong CHAP credentials, which are said nowhere", async () => {
    const refused = bring(closed, { session: ua("canary-of-ua-0") });
    const text = await refused.then(
      () => "none",
      ({ message }: Error) => message,
    );
    expect(text)
      .to.match(/lets nobody in with these CHAP credentials/)
      .and.not.contain("canary");
    expect(await sessions()).to.deep.equal([]);
  });

  it("are had by CHAP, of which nothing stays on the node's disk", async () => {
    expect(isDisk(await bring(closed, { session: ua("secret-of-ua-1") }))).to.equal(true);
    const names = filesIn("/etc/iscsi").map((path) => basename(path));
    expect(names.sort()).to.deep.equal(["initiatorname.iscsi", "iscsid.conf"]);
  });

  it("are had by CHAP of both sides, and never of a target that proves nothing", async () => {
    const mutual = (password: string): Chap => ({
      session: { ...ua("secret-of-ua-1"), in: { username: "target", password } },
    });
    expect(await reasonOf(bring(closed, mutual("canary-of-target")))).to.equal("CredentialsRefused");
    expect(await sessions()).to.deep.equal([]);
    expect(isDisk(await bring(closed, mutual("secret-of-target")))).to.equal(true);
  });

  const inFull = full() ? it : () => {};
  inFull("are looked for by SendTargets with CHAP of its own", async () => {
    const found = { ...open, chapAuthDiscovery: true };
    const ud = (password: string): Chap => ({ discovery: { username: "ud", password } });
    expect(await reasonOf(bring(found, ud("canary-of-ud-00")))).to.equal("CredentialsRefused");
    expect(await sessions()).to.deep.equal([]);
    expect(isDisk(await bring(found, ud("secret-of-ud-1")))).to.equal(true);
  });

  it("that share a session: the first to go leaves it, and the last ends it", async () => {
    const other = { ...open, lun: 2 };
    const both = [await bring(open), await bring(other)];
    expect((await sessions()).length).to.equal(1);
    const fd = openSync(`/dev/${both[0]?.name}`, "r");
    // Has it open, as what uses a disk as it is: nobody has claimed it.
    const program = spawn("sleep", ["1000"], { stdio: [fd, "ignore", "ignore"] });
    closeSync(fd);
    expect(await reasonOf(undo(open))).to.equal("DeviceBusy");
    program.kill("SIGKILL");
    await once(program, "exit");
    await undo(open, [other]); // which has another LUN
    expect([both.map(isDisk), (await sessions()).length]).to.deep.equal([[false, true], 1]);
    await undo(other);
    expect([both.map(isDisk), await sessions()]).to.deep.equal([[false, false], []]);
  });

  it("that somebody has brought up by hand are used there, and neither taken away nor logged out of", async () => {
    const admin = ["-m", "node", "-T", open.iqn, "-p", "127.0.0.1"];
    for (const words of [["-o", "new"], ["--login"]]) execFileSync("iscsiadm", [...admin, ...words]);
    const disk = await effects().iscsi.found(
      async () => (await disks()).find(({ address }) => address.lun === 1),
      20_000,
    );
    const before = await sessions();
    const used = await bring(open);
    expect([used.name, isDisk(used), await sessions()]).to.deep.equal([disk?.name, true, before]);
    await undo(open);
    expect([isDisk(used), await sessions()]).to.deep.equal([true, before]);
    for (const words of [["--logout"], ["-o", "delete"]]) execFileSync("iscsiadm", [...admin, ...words]);
  });

  it("come by each portal: two paths to one LUN", async () => {
    await bring(two);
    const paths = await disks();
    expect([paths.length, new Set(paths.map(({ wwid }) => wwid)).size, (await sessions()).length]).to.deep.equal([
      2, 1, 2,
    ]);
    expect(told.at(-1)).to.match(/^one of the paths sd., sd. is used, sd.: multipathd does not run on the node$/);
  });

  it("whose target is killed wait, which is told, and go on when it is back", async () => {
    const { deviceNumber } = await bring(open);
    const answers = () => node.host.servers?.disk(deviceNumber);
    expect(answers()).to.deep.equal({ answers: true });
    execFileSync("sh", ["-c", ". test/vm/iscsi.sh; iscsi_kill 0"]);
    await until("the disk waits", 30_000, async () => answers()?.answers === false);
    expect(answers()).to.deep.equal({ answers: false });
    execFileSync("sh", ["-c", ". test/vm/iscsi.sh; iscsi_target"]);
    await until("the disk works", 60_000, async () => answers()?.answers === true);
    await undo(open);
    expect(await sessions()).to.deep.equal([]);
  });

  it("of a target that is gone are let go all the same", async () => {
    const disk = await bring(open);
    const claim = openSync(`/dev/${disk.name}`, constants.O_RDONLY | constants.O_EXCL); // as a mount has it
    execFileSync("sh", ["-c", ". test/vm/iscsi.sh; iscsi_kill 0"]);
    await until("the session has failed", 30_000, async () => (await sessions())[0]?.state === "FAILED");
    expect([await reasonOf(undo(open)), isDisk(disk)]).to.deep.equal(["DeviceBusy", true]);
    closeSync(claim);
    await undo(open);
    expect([isDisk(disk), await sessions()]).to.deep.equal([false, []]);
    execFileSync("sh", ["-c", ". test/vm/iscsi.sh; iscsi_target"]);
  });

  it("of a target that the portal has not", async () => {
    expect(await reasonOf(bring({ ...open, iqn: "iqn.2024-01.example:none" }))).to.equal("ShareNotFound");
  });
});

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`);
}
