import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { until } from "../../../hack/lib/until.ts";
import type { Scsi, ScsiDisk } from "../../../src/host/ports/scsi.ts";
import { isAt, isLun, isNamed, scanFor } from "../../../src/host/ports/scsi.ts";
import type { StageContext } from "../../../src/plugins/api/volume-plugin.ts";
import { attach } from "../../../src/plugins/fc/attach.ts";
import type { FCLun } from "../../../src/plugins/fc/lun.ts";
import { full } from "../../lib/asserts/requirements.ts";
import { soonMs } from "../../lib/kernel/agents/vm-world.ts";
import { RealNode } from "../../lib/kernel/real-node.ts";

/** The target port of the first path, by test/vm/fc.sh. */
const wwn = "2000020000000102";

describe("SCSI disks of a Fibre Channel target", function () {
  this.timeout(soonMs);
  let node: RealNode;
  let scsi: Scsi;

  before(async () => {
    node = new RealNode();
    const operation = { deadlineMs: 60_000, formatDeadlineMs: 60_000, onChild: async () => {} };
    scsi = node.host.effects(operation).scsi;
    const { ports } = await scsi.look("/");
    // The contract suite has LUN 0 taken off the node at its end.
    for (const port of ports) if (port.kind === "fc") await scsi.scan(scanFor(port, 0));
    await until("both paths to LUN 0", 30_000, async () => (await paths(0)).length === 2);
  });
  after(() => node[Symbol.asyncDispose]());

  const paths = async (lun: number): Promise<ScsiDisk[]> => {
    const { disks, ports } = await scsi.look("/"); // iSCSI has LUNs of these numbers, too
    const fc = ports.filter(({ kind }) => kind === "fc");
    return disks.filter(({ address }) => isLun(address.lun, lun) && fc.some((port) => isAt(port, address)));
  };
  const atPort = async (lun: number): Promise<ScsiDisk | undefined> => {
    const { ports } = await scsi.look("/");
    const port = ports.find((one) => one.kind === "fc" && one.wwn === wwn);
    return (await paths(lun)).find(({ address }) => address.host === port?.host);
  };
  const appears = async (lun: number): Promise<ScsiDisk> => {
    let disk: ScsiDisk | undefined;
    await until(`LUN ${lun} at ${wwn}`, 30_000, async () => {
      disk = await atPort(lun);
      return disk !== undefined;
    });
    if (disk === undefined) throw new Error("not reached");
    return disk;
  };

  it("are found on each path, by the name that the LUN gives itself", async () => {
    const [first, second, ...more] = await paths(0);
    expect(more).to.deep.equal([]);
    expect(first?.wwid).to.match(/^naa\.6001405/);
    expect(second?.wwid).to.equal(first?.wwid);
    const [name = ""] = first?.names ?? [];
    const { disks } = await scsi.look("/");
    expect(disks.filter((disk) => isNamed(disk, name)).map(({ address }) => address.lun)).to.deep.equal([0, 0]);
  });

  it("are taken off the node one at a time, and come back by a scan for one LUN of one target", async () => {
    const disk = await appears(1);
    await scsi.remove(disk, "/");
    expect(await atPort(1)).to.equal(undefined);
    expect(await paths(0)).to.have.length(2);
    await scsi.remove(disk, "/"); // once more is harmless
    await scsi.scan(scanFor(disk.address, 1));
    expect((await appears(1)).wwid).to.equal(disk.wwid);
  });

  it("stay while somebody has claimed them, and while another disk stands under the name", async () => {
    const disk = await appears(1);
    const fd = openSync(`/dev/${disk.name}`, constants.O_RDONLY | constants.O_EXCL);
    try {
      await refused(scsi.remove(disk, "/"), "is in use");
    } finally {
      closeSync(fd);
    }
    await refused(scsi.remove({ ...disk, wwid: "naa.0" }, "/"), "another disk");
    execFileSync("modprobe", ["sg"]);
    const [generic] = readdirSync(`/sys/block/${disk.name}/device/scsi_generic`);
    // As a virtual machine that the disk is passed through to.
    const command = openSync(`/dev/${generic}`, constants.O_RDWR);
    try {
      await refused(scsi.remove(disk, "/"), `/dev/${disk.name} is open`);
    } finally {
      closeSync(command);
    }
    expect(await atPort(1)).to.deep.include({ name: disk.name, lasting: disk.lasting });
  });

  it("show how large they are, once they are asked anew", async () => {
    const disk = await appears(1);
    execFileSync("truncate", ["-s", "+32M", "/run/fc/1"]);
    const loop = execFileSync("losetup", ["-j", "/run/fc/1", "-O", "NAME", "-n"], { encoding: "utf8" }).trim();
    execFileSync("losetup", ["-c", loop]);
    expect((await atPort(1))?.sizeBytes).to.equal(disk.sizeBytes);
    await scsi.rescan(disk);
    expect((await atPort(1))?.sizeBytes).to.equal(disk.sizeBytes + 32 * 1024 * 1024);
  });

  const attached = (source: FCLun["source"]) =>
    attach({ source }, { scsi, hostRoot: "/", progress: () => {} } as unknown as StageContext);

  const inFull = full() ? it : () => {};
  inFull("are looked for by their name alone at every port, and found on each path", async () => {
    const [name = ""] = (await appears(1)).names;
    for (const disk of await paths(1)) await scsi.remove(disk, "/");
    expect(await paths(1)).to.deep.equal([]);
    const found = await attached({ wwids: [name] });
    expect(found.map(({ address }) => address.lun)).to.deep.equal([1, 1]);
    expect(new Set(found.map(({ address }) => address.host)).size).to.equal(2);
  });

  const ports = async () => (await scsi.look("/")).ports.flatMap((port) => (port.kind === "fc" ? [port] : []));
  const stateOf = async () => (await ports()).find((port) => port.wwn === wwn)?.state;

  it("are used by the other port while one is away, and by both when it is back", async () => {
    const targetWWNs = (process.env["NODEVOLUME_FC_TARGETS"] ?? "").split(" ");
    execFileSync("ip", ["link", "set", "fct1", "down"]);
    try {
      await until("the port is away", 60_000, async () => (await stateOf()) !== "Online");
      const used = await attached({ targetWWNs, lun: 1 });
      expect(used.filter(({ state }) => state === "running")).to.have.length(1);
      const awake = used.find(({ state }) => state === "running");
      expect((await ports()).find(({ host }) => host === awake?.address.host)?.wwn).to.not.equal(wwn);
    } finally {
      execFileSync("ip", ["link", "set", "fct1", "up"]);
    }
    await until("the port is back", 60_000, async () => (await stateOf()) === "Online");
    await until("both paths work", 60_000, async () => {
      const states = (await attached({ targetWWNs, lun: 1 })).map(({ state }) => state);
      return states.join() === "running,running";
    });
  });

  it("that have failed are taken off too", async () => {
    const disk = await appears(1);
    writeFileSync(`/sys/block/${disk.name}/device/state`, "offline\n");
    await scsi.remove(disk, "/");
    expect(await atPort(1)).to.equal(undefined);
    await scsi.scan(scanFor(disk.address, 1));
    await appears(1);
  });
});

async function refused(call: Promise<void>, message: string): Promise<void> {
  const error = await call.then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  expect(error?.message).to.contain(message);
}
