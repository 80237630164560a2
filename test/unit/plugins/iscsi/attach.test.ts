import { expect } from "chai";
import type { ISCSIVolumeSource } from "../../../../src/api/types.gen.ts";
import { VolumeError } from "../../../../src/errors.ts";
import { attach } from "../../../../src/plugins/iscsi/attach.ts";
import { interfaceOf } from "../../../../src/plugins/iscsi/lun.ts";
import type { StageContext } from "../../../../src/plugins/plugin.ts";
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
    const { iscsi, scsi } = node;
    const progress = (message: string) => void told.push(message);
    const context = { iscsi, scsi, hostRoot: "/", progress } as unknown as StageContext;
    const by = interfaceOf(source);
    const lun = { iqn, lun: source.lun, interface: by.name };
    return attach({ lun, source, by, chap: {} }, context);
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

  it("of two volumes that name it is one disk, whatever they log in by: the second finds it claimed", async () => {
    await bring(one);
    expect((await bring({ ...one, initiatorName: "iqn.2024-01.example:n" })).name).to.equal("sda");
    expect(node.sessions).to.have.length(1);
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

  it("one path of two is used where no multipathd makes a map, and people are told", async () => {
    expect((await bring(two)).name).to.equal("sda");
    expect(told[0]).to.equal("2 paths, of which one is used, sda: multipathd does not run on the node");
  });
});
