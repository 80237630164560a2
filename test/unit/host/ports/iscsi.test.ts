import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { diskAnswer } from "../../../../src/host/linux/device/disk-state.ts";
import { chapSettings, interfaceLines, withSettings } from "../../../../src/host/linux/scsi/iscsi-records.ts";
import { readSessions } from "../../../../src/host/linux/scsi/iscsi-sessions.ts";
import { failure, LinuxISCSI, type Turns } from "../../../../src/host/linux/scsi/linux-iscsi.ts";
import { portalOf, portalText } from "../../../../src/host/ports/iscsi.ts";

/** A tree that is made, not sysfs: as Linux 6.1 has it. */
describe("iSCSI in sysfs", () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "nvo-iscsi-"));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const put = (path: string, text = "") => {
    mkdirSync(dirname(`${root}/${path}`), { recursive: true });
    writeFileSync(`${root}/${path}`, `${text}\n`);
  };

  it("is told as sessions, each with its portal, host and interface", () => {
    for (const [number, address] of [
      [10, "127.0.0.1"],
      [2, "fd00::1"],
    ] as const) {
      const device = `${root}/devices/platform/host${number + 1}/session${number}`;
      mkdirSync(device, { recursive: true });
      const place = `class/iscsi_session/session${number}`;
      put(`${place}/targetname`, "iqn.2024-01.example:a");
      put(`${place}/ifacename`, "nodevolume-x");
      put(`${place}/state`, "FAILED");
      symlinkSync(device, `${root}/${place}/device`);
      put(`class/iscsi_connection/connection${number}:0/persistent_address`, address);
      put(`class/iscsi_connection/connection${number}:0/persistent_port`, "3261");
    }
    put("class/iscsi_session/session3/state", "FREE"); // it went while it was looked at
    const sessions = readSessions(root);
    expect(sessions.map(({ number }) => number)).to.deep.equal([2, 10]);
    expect(sessions[0]).to.deep.equal({
      number: 2,
      host: 3,
      iqn: "iqn.2024-01.example:a",
      portal: { address: "fd00::1", port: 3261 },
      interface: "nodevolume-x",
      state: "FAILED",
    });
    expect(readSessions(`${root}/none`)).to.deep.equal([]);
  });

  const disk = (number: string, state: string) => {
    put(`devices/${number}/device/state`, state);
    mkdirSync(`${root}/dev/block`, { recursive: true });
    symlinkSync(`${root}/devices/${number}`, `${root}/dev/block/${number}`);
  };

  it("shows whether a disk works, waits or has failed", () => {
    for (const [number, state] of [
      ["8:0", "running"],
      ["8:16", "blocked"],
      ["8:32", "transport-offline"],
    ] as const) {
      disk(number, state);
    }
    const answers = ["8:0", "8:16", "8:32", "8:48"].map((number) => diskAnswer(root, number));
    expect(answers).to.deep.equal([
      { answers: true },
      { answers: false },
      { answers: false, said: "transport-offline" },
      { answers: false, said: "it is not on the node any more" },
    ]);
  });

  it("a map works as long as one of its paths does", () => {
    disk("8:0", "transport-offline");
    disk("8:16", "running");
    mkdirSync(`${root}/devices/254:0`, { recursive: true });
    symlinkSync(`${root}/devices/254:0`, `${root}/dev/block/254:0`);
    for (const number of ["8:0", "8:16"]) put(`devices/254:0/slaves/sd${number}/dev`, number);
    expect(diskAnswer(root, "254:0")).to.deep.equal({ answers: true });
    put("devices/8:16/device/state", "offline");
    expect(diskAnswer(root, "254:0")).to.deep.equal({ answers: false, said: "transport-offline" });
  });
});

describe("open-iscsi's records", () => {
  const record =
    "# BEGIN RECORD 2.1.8\nnode.name = a\nnode.session.auth.authmethod = CHAP\nnode.session.auth.username_in = t\n# END RECORD\n";

  it("get what is meant, and lose what iscsid.conf has for all targets", () => {
    const none = withSettings(record, chapSettings("node.session.auth", undefined));
    expect(none).to.equal("# BEGIN RECORD 2.0\nnode.name = a\nnode.session.auth.authmethod = None\n# END RECORD\n");
    const chap = withSettings(record, chapSettings("node.session.auth", { username: "ua", password: "a = b" }));
    expect(chap.split("\n").slice(2, -2)).to.deep.equal([
      "node.session.auth.authmethod = CHAP",
      "node.session.auth.username = ua",
      "node.session.auth.password = a = b",
    ]);
  });

  it("of interfaces are copied but for their names", () => {
    const text =
      "iface.iscsi_ifacename = eth1\niface.net_ifacename = eth1\niface.hwaddress = <empty>\niface.transport_name = tcp\n";
    expect(interfaceLines(text)).to.deep.equal(["iface.net_ifacename = eth1", "iface.transport_name = tcp"]);
  });
});

describe("iscsiadm", () => {
  const by = { name: "nodevolume-a", like: "eth1" };
  const login = { iqn: "iqn.2024-01.example:a", portal: { address: "fd00::1", port: 3260 }, interface: by };
  const failed = (code: number, said = "words") => failure({ step: "login", code, said }, login);

  const codes = {
    24: "CredentialsRefused",
    19: "ShareNotFound",
    20: "InitiatorNotReady",
    8: "ServerUnreachable",
    7: "SetUpFailed",
  };
  for (const [code, reason] of Object.entries(codes)) {
    it(`that ends with ${code} says ${reason}`, () => expect(failed(Number(code)).reason).to.equal(reason));
  }

  it("that does not like the target says so where that was to prove who it is", () => {
    const proof = { username: "ua", password: "p", in: { username: "target", password: "s3cret" } };
    const refused = failure({ step: "login", code: 19, said: "words" }, { ...login, session: proof });
    expect(refused).to.include({ reason: "CredentialsRefused", errorClass: "transient" });
    expect(refused.message).to.contain("username_in").and.to.not.contain("s3cret");
  });

  it("that is not there, and an interface that is not, are named with what to do", () => {
    const missing = failure({ step: "missing", what: "iscsiadm" }, login);
    expect([missing.reason, missing.on?.name]).to.deep.equal(["InitiatorNotReady", "iscsiadm"]);
    expect(missing.message).to.match(/^iqn\.2024-01\.example:a at \[fd00::1\]:3260: .*install open-iscsi/);
    expect(failure({ step: "missing", what: "interface" }, login).message).to.contain(
      "iscsiadm -m iface -I eth1 -o new",
    );
  });

  it("that finds other targets names them", () => {
    expect(failure({ step: "target", said: "iqn.b" }, login).message).to.contain("but iqn.b: correct iqn");
  });

  it("portals are told with their port, as they are written to it", () => {
    const texts = ["10.0.0.1", "a.example:3261", "[FD00::1]", "[fd00::1]:3262"].map((text) =>
      portalText(portalOf(text)),
    );
    expect(texts).to.deep.equal(["10.0.0.1:3260", "a.example:3261", "[fd00::1]:3260", "[fd00::1]:3262"]);
  });

  it("is run by one operation at a time for each target, also after one has failed", async () => {
    const turns: Turns = new Map();
    const one = () => new LinuxISCSI({ turns } as unknown as ConstructorParameters<typeof LinuxISCSI>[0]);
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = one().exclusively("a", async () => {
      await gate.promise;
      order.push("first");
      throw new Error("failed");
    });
    const second = one().exclusively("a", async () => void order.push("second"));
    await one().exclusively("b", async () => void order.push("other"));
    gate.resolve();
    expect(await first.catch((error: Error) => error.message)).to.equal("failed");
    await second;
    expect(order).to.deep.equal(["other", "first", "second"]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(turns.size).to.equal(0);
  });
});
