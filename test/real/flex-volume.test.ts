import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { until } from "../../hack/lib/until.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { afterReboot } from "../../src/agent/model/volume-record.ts";
import type { FlexVolumeSource } from "../../src/api/types.gen.ts";
import { need } from "../lib/asserts/requirements.ts";
import { DeadlinesByHand } from "../lib/fakes/deadlines-by-hand.ts";
import { flexDriver } from "../lib/fakes/flex-driver.ts";
import { RealNode } from "../lib/kernel/real-node.ts";

const name = asVolumeName("node.volume-1");
const success = `echo '{"status": "Success", "capabilities": {"attach": false}}'`;

/** A driver without attach that does this for each command, and writes down what it is called with. */
const script = (cases: string) => `#!/bin/sh
echo "$*" >> "\${0%/*}/calls"
here="\${0%/*}"
case "$1" in
init) ${success} ;;
${cases}
*) echo '{"status": "Not supported"}'; exit 1 ;;
esac
`;
const mountTmpfs = `mount -t tmpfs flex "$2"; ${success}`;

describe("flexvolume drivers on the real kernel", () => {
  let node: RealNode;
  let deadlines: DeadlinesByHand;
  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    deadlines = new DeadlinesByHand();
    node = new RealNode({ timers: deadlines });
  });
  afterEach(() => node[Symbol.asyncDispose]());

  const volume = (source: FlexVolumeSource, options: { name?: string; target?: string; deleting?: boolean } = {}) => {
    const { target = "a", ...rest } = options;
    return intent({
      source: { flexVolume: source },
      generation: rest.deleting === true ? 2 : 1,
      ...rest,
      mounts: [{ path: node.target(target) }],
    });
  };
  const released = (source: FlexVolumeSource) => {
    node.want(volume(source, { deleting: true }));
    return node.volume(name);
  };
  const again = () => {
    node.forgetFailures();
    return node.volume(name);
  };

  slow("are called as kubelet calls them, with its options", async function () {
    need(this, "loop-devices", "mkfs.ext4", "ext4");
    const { image, calls } = flexDriver(node, "test/loop");
    const source = {
      driver: "test/loop",
      fsType: "ext4",
      options: { image, sizeMegabytes: "16", "kubernetes.io/pvOrVolumeName": "pv-1" },
    };
    node.want(volume(source));
    expect((await node.volume(name)).failure?.message).to.equal(undefined);
    const device = execFileSync("losetup", ["-j", image, "-O", "NAME", "-n"], { encoding: "utf8" }).trim();
    expect((await released(source)).phase).to.equal("released");
    const given = {
      "kubernetes.io/fsType": "ext4",
      "kubernetes.io/readwrite": "rw",
      "kubernetes.io/pvOrVolumeName": "pv-1",
      image,
      sizeMegabytes: "16",
    };
    const json = JSON.stringify(given);
    const staging =
      calls()
        .find((call) => call.startsWith("mount "))
        ?.split(" ")[1] ?? "";
    expect(staging).to.match(/\/state\/staging\/[^/]+$/);
    expect(calls()).to.deep.equal([
      "init",
      `getvolumename ${json}`,
      `attach ${json} node`,
      `waitforattach ${device} ${json}`,
      `mountdevice ${staging}.device ${device} ${json}`,
      `mount ${staging} ${json}`,
      `unmountdevice ${staging}.device`,
      "detach pv-1 node",
    ]);
  });

  slow("after a reboot are asked first whether the device is attached", async function () {
    need(this, "loop-devices", "mkfs.ext4", "ext4");
    const { image, commands } = flexDriver(node, "test/loop");
    node.want(volume({ driver: "test/loop", options: { image, sizeMegabytes: "16" } }));
    await node.converge();
    const before = commands().length;
    for (const { point } of node.mounts().reverse()) execFileSync("umount", [point]);
    const journal = await node.journal();
    for (const record of journal.records.values()) await journal.put(afterReboot(record));
    await node.converge();
    expect(commands().slice(before)).to.deep.equal(["getvolumename", "isattached", "mountdevice"]);
    expect(readdirSync(node.target("a"))).to.include("lost+found");
  });

  it("are not believed that they mounted", async () => {
    const { commands } = flexDriver(node, "v/liar", script(`mount|unmount) ${success} ;;`));
    const source = { driver: "v/liar" };
    node.want(volume(source));
    const found = await node.volume(name);
    expect(found.failure?.reason).to.equal("DriverReplyFalse");
    expect(found.failure?.message).to.match(/^v\/liar answered mount with Success, but nothing is mounted on /);
    expect(found.actualState.inUse).to.equal(true);
    expect((await released(source)).phase).to.equal("released");
    expect(commands()).to.deep.equal(["init", "getvolumename", "mount", "unmount"]);
  });

  it("are not believed that they unmounted: in use until they did", async () => {
    const { path } = flexDriver(node, "v/liar", script(`mount) ${mountTmpfs} ;;\nunmount) ${success} ;;`));
    const source = { driver: "v/liar" };
    node.want(volume(source));
    await node.converge();
    const found = await released(source);
    expect(found.failure?.reason).to.equal("DriverReplyFalse");
    expect(found.actualState.inUse).to.equal(true);
    writeFileSync(path, script(`unmount) umount "$2"; ${success} ;;`));
    expect((await again()).phase).to.equal("released");
    expect(node.mounts()).to.deep.equal([]);
  });

  it("that are not there are waited for by their path, also to give a volume back", async () => {
    const source = { driver: "v/late" };
    node.want(volume(source));
    const found = await node.volume(name);
    const { path } = flexDriver(node, "v/late", script(`mount) ${mountTmpfs} ;;\nunmount) umount "$2"; ${success} ;;`));
    const { reason, on } = found.failure ?? {};
    expect({ reason, on }).to.deep.equal({ reason: "DriverMissing", on: { kind: "Program", name: path } });
    expect((await again()).actualState.stage.truth).to.equal("mounted");
    rmSync(path);
    const waiting = await released(source);
    expect(waiting.failure?.reason).to.equal("DriverMissing");
    expect(waiting.actualState.inUse).to.equal(true);
    flexDriver(node, "v/late", script(`unmount) umount "$2"; ${success} ;;`));
    expect((await again()).phase).to.equal("released");
  });

  it("that are replaced are asked anew what they can do", async () => {
    const { path, commands } = flexDriver(node, "v/d", script(""));
    node.want(volume({ driver: "v/d" }));
    expect((await node.volume(name)).failure?.message).to.include("v/d does not support mount");
    await again();
    expect(commands()).to.deep.equal(["init", "getvolumename", "mount"]); // it said so, and is not asked again
    writeFileSync(path, script(`mount) ${mountTmpfs} ;;\nunmount) umount "$2"; ${success} ;;`));
    expect((await again()).actualState.stage.truth).to.equal("mounted");
    expect(commands().slice(3)).to.deep.equal(["init", "getvolumename", "mount"]);
  });

  slow("that hang are ended with what they have started, and delay no other volume", async () => {
    flexDriver(node, "v/hung", script(`mount) sleep 1000 & echo $! > "$here/pid"; sleep 1000 ;;`));
    flexDriver(node, "test/memory");
    node.deadlineMs = deadlines.ms;
    node.want(volume({ driver: "v/hung" }), volume({ driver: "test/memory" }, { name: "node.other-1", target: "b" }));
    const { operations } = await node.plan();
    const hung = operations.filter(({ volume: of }) => of === name).map((operation) => node.run(operation));
    const pidFile = `${node.path}/vendors/v~hung/pid`;
    await until("the driver to hang", 30_000, async () => existsSync(pidFile));
    for (const operation of operations.filter(({ volume: of }) => of !== name)) await node.run(operation);
    expect(node.done, "while the other hangs").to.deep.equal(["stage"]);
    deadlines.runOut();
    await Promise.all(hung);
    expect(node.done).to.deep.equal(["stage", "stage TimedOut"]);
    const pid = readFileSync(pidFile, "utf8").trim();
    await until("what it had started to end", 30_000, async () => !isAlive(pid));
  });

  slow("that were cut off after they had mounted are undone, and asked again", async () => {
    const { path, commands } = flexDriver(node, "v/slow", script(`mount) mount -t tmpfs half "$2"; sleep 1000 ;;`));
    node.deadlineMs = deadlines.ms;
    node.want(volume({ driver: "v/slow" }));
    const slow = node.volume(name);
    await until("it to have mounted", 30_000, async () => node.mounts().some(({ source }) => source === "half"));
    deadlines.runOut();
    const found = await slow;
    expect([found.failure?.reason, found.failure?.errorClass]).to.deep.equal(["TimedOut", "uncertain"]);
    expect(found.actualState.inUse).to.equal(true);
    writeFileSync(path, script(`mount) mount -t tmpfs whole "$2"; ${success} ;;\nunmount) umount "$2"; ${success} ;;`));
    await again();
    expect(node.mountAt(node.target("a"))?.source).to.equal("whole");
    expect(commands()).to.deep.equal(["init", "getvolumename", "mount", "init", "getvolumename", "unmount", "mount"]);
  });

  it("get a Secret in base64, and nobody else does, not even by what they repeat of it", async () => {
    const value = "correct horse";
    node.secrets.set("login", new Map([["password", value]]));
    const repeat = `printf '{"status": "Failure", "message": "%s"}' "$(echo "$3" | tr -d '"{}')"; exit 1`;
    const { calls } = flexDriver(node, "v/secret", script(`mount) ${repeat} ;;\nunmount) ${success} ;;`));
    const secretRef = { namespace: "storage", name: "login" };
    node.want(volume({ driver: "v/secret", secretRef, secretInArguments: "Allow" }));
    const { failure } = await node.volume(name);
    const base64 = Buffer.from(value).toString("base64");
    expect(calls().at(-1)).to.include(`"kubernetes.io/secret/password":"${base64}"`);
    expect(failure?.reason).to.equal("DriverFailed");
    expect(failure?.message).to.include("kubernetes.io/secret/password:[redacted]");
    const told = [readFileSync(`${node.stateDir}/journal`, "utf8"), JSON.stringify(failure), node.log.join()].join();
    expect(told).not.to.include(value);
    expect(told).not.to.include(base64.replace(/=+$/, ""));
  });

  it("a Secret is found in what they say before that is cut, however long it is", async () => {
    const value = Array.from({ length: 400 }, (_, i) => `${i} horses`).join(",");
    node.secrets.set("login", new Map([["password", value]]));
    flexDriver(node, "v/secret", script(`mount) echo "got: $3" >&2; exit 1 ;;\nunmount) ${success} ;;`));
    const secretRef = { namespace: "storage", name: "login" };
    node.want(volume({ driver: "v/secret", secretRef, secretInArguments: "Allow" }));
    const { failure } = await node.volume(name);
    expect(failure?.reason).to.equal("DriverReplyInvalid");
    expect(failure?.message).to.include('"kubernetes.io/secret/password":"[redacted]');
    const base64 = Buffer.from(value).toString("base64");
    const told = [readFileSync(`${node.stateDir}/journal`, "utf8"), JSON.stringify(failure), node.log.join()].join();
    for (let from = 0; from + 16 <= base64.length; from++) expect(told).not.to.include(base64.slice(from, from + 16));
  });
});

function isAlive(pid: string): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}
