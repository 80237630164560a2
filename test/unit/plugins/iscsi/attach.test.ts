import { expect } from "chai";
import type { ISCSIVolumeSource } from "../../../../src/api/types.gen.ts";
import { VolumeError } from "../../../../src/errors.ts";
import type { ScsiDisk } from "../../../../src/host/ports/scsi.ts";
import type { StageContext } from "../../../../src/plugins/api/volume-plugin.ts";
import { attach, pathsNow } from "../../../../src/plugins/iscsi/attach.ts";
import { interfaceOf, portalsOf } from "../../../../src/plugins/iscsi/lun.ts";
import { deviceOf, type LunDevice, refuseOther } from "../../../../src/plugins/scsi/device-of.ts";
import { FakeISCSINode } from "./fake-iscsi-node.ts";

const iqn = "iqn.2024-01.example:a";
const one: ISCSIVolumeSource = { targetPortal: "10.0.0.1", iqn, lun: 1 };
const two: ISCSIVolumeSource = { ...one, portals: ["10.0.0.2:3261", "10.0.0.1:3260"] };

describe("the LUN of an iSCSI volume", () => {
  let node: FakeISCSINode;
  let told: string[];

  beforeEach(() => {
    node = new FakeISCSINode();
    told = [];
  });

  async function bring(source: ISCSIVolumeSource) {
    const by = interfaceOf(source);
    const paths = await attach({ lun: lunOf(source), source, by, chap: {} }, context());
    return deviceOf(paths, () => pathsNow(lunOf(source), context()), context());
  }
  const still = async (device: LunDevice) => refuseOther(device, await pathsNow(lunOf(one), context()), "LUN 1");
  const lunOf = (source: ISCSIVolumeSource) => {
    return { iqn, lun: source.lun, interface: interfaceOf(source).name, portals: portalsOf(source) };
  };
  function context(): StageContext {
    const { iscsi, scsi } = node;
    const progress = (message: string) => void told.push(message);
    return { iscsi, scsi, hostRoot: "/", progress } as unknown as StageContext;
  }
  const ours = () => node.sessions.map(({ interface: name }) => name);
  const reasonOf = async (source: ISCSIVolumeSource): Promise<string> => {
    const error: unknown = await bring(source).catch((thrown: unknown) => thrown);
    return error instanceof VolumeError ? error.reason : `none: ${JSON.stringify(error)}`;
  };

  it("is brought by a session of ours, in which it alone is looked for", async () => {
    expect((await bring(one)).name).to.equal("sda");
    expect(node.log).to.deep.equal(["login 10.0.0.1:3260", "scan 11 1"]);
    expect(ours()).to.deep.equal([interfaceOf(one).name]);
  });

  it("is found as it is, once it is there", async () => {
    await bring(one);
    node.log.length = 0;
    expect((await bring(one)).name).to.equal("sda");
    expect(node.log).to.deep.equal([]);
  });

  it("shares the session with another of the same target", async () => {
    await bring(one);
    expect((await bring({ ...one, lun: 2 })).name).to.equal("sdb");
    expect(node.log).to.deep.equal(["login 10.0.0.1:3260", "scan 11 1", "scan 11 2"]);
  });

  it("has a session of its own where it is another initiator, interface or Secret", async () => {
    const chap = { chapAuthSession: true, secretRef: { namespace: "a", name: "b" } };
    const all = [{}, { initiatorName: "iqn.2024-01.example:n" }, { iscsiInterface: "eth1" }, chap];
    node.luns = [1, 2, 3, 4];
    for (const [at, more] of all.entries()) await bring({ ...one, ...more, lun: at + 1 });
    expect(new Set(ours()).size).to.equal(4);
  });

  it("is used by somebody else's session if that shows it, and nothing is logged in to", async () => {
    const foreign = node.session();
    node.disk(foreign, 1, { name: "sdx" });
    expect((await bring(one)).name).to.equal("sdx");
    expect(node.log).to.deep.equal([]);
  });

  it("that another volume has by another initiator is had by neither's session twice", async () => {
    await bring(one);
    expect(await reasonOf({ ...one, initiatorName: "iqn.2024-01.example:n" })).to.equal("DeviceBusy");
    expect(node.sessions).to.have.length(1);
  });

  it("is not had behind somebody else's back who has proved who they are", async () => {
    node.disk(node.session(), 1);
    const secretRef = { namespace: "a", name: "b" };
    expect(await reasonOf({ ...one, chapAuthSession: true, secretRef })).to.equal("DeviceBusy");
    expect(node.log).to.deep.equal([]);
  });

  it("is never the disk that somebody at another portal calls so", async () => {
    const portal = { address: "10.6.6.6", port: 3260 };
    node.disk(node.session({ portal, interface: "nodevolume-of-an-intruder" }), 1, { name: "sdx", wwid: "naa.other" });
    expect((await bring(one)).name).to.equal("sdb");
    expect(node.log).to.deep.equal(["login 10.0.0.1:3260", "scan 12 1"]);
  });

  for (const wwid of ["naa.60001", undefined]) {
    it(`is not used twice where another portal shows what is or may be the same (${wwid})`, async () => {
      node.disk(node.session({ portal: { address: "10.0.0.9", port: 3260 } }), 1, { wwid } as Partial<ScsiDisk>);
      expect(await reasonOf(one)).to.equal("DeviceBusy");
    });
  }

  it("is refused where of several paths one does not say what disk it is", async () => {
    await bring(two);
    node.disks = node.disks.map(({ wwid, ...disk }, at) => ({ ...disk, ...(at === 0 && wwid && { wwid }) }));
    expect(await reasonOf(two)).to.equal("DiskAmbiguous");
    node.disks = node.disks.map(({ wwid: _, ...disk }) => disk);
    expect(await reasonOf(two)).to.equal("DiskAmbiguous");
  });

  it("is not had by a multipath map that somebody else's disk is in, whatever it calls itself", async () => {
    await bring(two);
    node.map("dm-0", ...node.disks, node.disk(node.session({ iqn: "iqn.2024-01.example:b" }), 1));
    expect(await reasonOf(two)).to.equal("DeviceBusy");
  });

  it("is proved to be the device that was found, and not what has its number now", async () => {
    const disk = await bring(one);
    await still(disk);
    node.disks = node.disks.map((now) => ({ ...now, lasting: "naa.another" }));
    expect(await still(disk).catch(({ reason }: VolumeError) => reason)).to.equal("DiskNotFound");
    node.disks = [];
    expect(await still(disk).catch(({ reason }: VolumeError) => reason)).to.equal("DiskNotFound");
  });

  it("is not looked for in somebody else's session that does not show it", async () => {
    node.disk(node.session(), 2);
    await bring(one);
    expect(node.log).to.deep.equal(["login 10.0.0.1:3260", "scan 12 1"]);
  });

  it("is looked for at each portal, once, and multipath's map of it is used", async () => {
    await bring(two);
    node.map("dm-0", ...node.disks);
    expect(await bring(two)).to.deep.include({ name: "dm-0", deviceNumber: "254:0" });
    expect(node.log.filter((entry) => entry.startsWith("login"))).to.deep.equal([
      "login 10.0.0.1:3260",
      "login 10.0.0.2:3261",
    ]);
  });

  it("goes on with the portals that answer, and says which do not", async () => {
    node.refusing.set("10.0.0.1:3260", new VolumeError("ServerUnreachable", "transient", "10.0.0.1 is silent"));
    expect((await bring(two)).name).to.equal("sda");
    expect(told).to.deep.equal(["a path is missing: 10.0.0.1 is silent"]);
  });

  it("says of several refusals the one that says most", async () => {
    node.refusing.set("10.0.0.1:3260", new VolumeError("ServerUnreachable", "transient", "silent"));
    node.refusing.set("10.0.0.2:3261", new VolumeError("CredentialsRefused", "final", "refused"));
    expect(await reasonOf(two)).to.equal("CredentialsRefused");
  });

  it("asks no second portal while a child is not ended", async () => {
    node.refusing.set("10.0.0.1:3260", new VolumeError("OperationAbandoned", "uncertain", "hangs"));
    expect(await reasonOf(two)).to.equal("OperationAbandoned");
    expect(node.log).to.deep.equal(["login 10.0.0.1:3260"]);
  });

  it("that the target has not is told as such", async () => {
    expect(await reasonOf({ ...one, lun: 9 })).to.equal("DiskNotFound");
  });

  it("is refused where two portals show different disks", async () => {
    await bring(two);
    node.disks = node.disks.map((disk, at) => ({ ...disk, wwid: `naa.${at}` }));
    expect(await reasonOf(two)).to.equal("DiskAmbiguous");
  });

  it("waits while its session is lost and others have disks there, and logs in anew when nobody has", async () => {
    const lost = node.session({ interface: interfaceOf(one).name, state: "FAILED" });
    node.disk(lost, 2);
    expect(await reasonOf(one)).to.equal("ServerUnreachable");
    expect(node.log).to.deep.equal([]);
    node.disks = [];
    await bring(one);
    expect(node.log).to.deep.equal(["logout 1", "login 10.0.0.1:3260", "scan 12 1"]);
  });
});
