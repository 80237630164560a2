import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { pidOf } from "../../hack/lib/pid-of.ts";
import type { ISCSIOutcome, ISCSIRequest } from "../../src/host/linux/child/child-protocol.ts";
import { need } from "../lib/asserts/requirements.ts";
import { childCommand } from "../lib/kernel/child-command.ts";

const password = "canary of ua";

/** Not open-iscsi: it makes the record that is asked for, and shows what it was given and what it sees. */
const fakeAdmin = (seen: string) => `#!/bin/sh
echo "$*" >>${seen}/args
case "$*" in *"-o new") mkdir /etc/iscsi/nodes/t; printf 'node.name = t\\nnode.session.scan = auto\\n' >/etc/iscsi/nodes/t/p ;; esac
case "$*" in *discoverydb*"-o new") mkdir -p /var/lib/iscsi/send_targets; echo 'node.name = d' >/var/lib/iscsi/send_targets/d ;; esac
case "$*" in *discoverydb*"-o delete") rm /var/lib/iscsi/send_targets/d ;; esac
case "$*" in *--discover) i=0; while [ $i -lt 4000 ]; do echo "10.0.0.1:3260,1 iqn.2024-01.example:$i"; i=$((i + 1)); done ;; esac
case "$*" in *--login | *--logout) grep -r . /etc/iscsi >${seen}/records ;; esac
`;

describe("open-iscsi's database, as a child of the agent has it", () => {
  let directory: string;
  let node: ChildProcess;

  before(async function () {
    need(this, "root");
    directory = mkdtempSync(join(tmpdir(), "nvo-iscsi-"));
    writeFileSync(`${directory}/iscsiadm`, fakeAdmin(directory), { mode: 0o755 });
    // A mount namespace that stands for the node's: there, and not here, are iscsiadm, settings, and a record of
    // somebody's.
    const script = `mount -t tmpfs etc /etc && mount -t tmpfs lib /var/lib && mount -t tmpfs sbin /usr/sbin && cp ${directory}/iscsiadm /usr/sbin
      mkdir -p /etc/iscsi/nodes/other /etc/iscsi/ifaces && echo InitiatorName=iqn.node >/etc/iscsi/initiatorname.iscsi
      echo 'node.name = other' >/etc/iscsi/nodes/other/p
      printf 'iface.iscsi_ifacename = eth1\\niface.net_ifacename = eth1\\n' >/etc/iscsi/ifaces/eth1
      echo ready && exec sleep 120`;
    node = spawn("unshare", ["--mount", "--propagation", "private", "sh", "-ec", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (node.stdout !== null) await once(node.stdout, "data");
  });
  after(async () => {
    if (node?.exitCode === null && node.kill("SIGKILL")) await once(node, "exit");
    if (directory !== undefined) rmSync(directory, { recursive: true });
  });

  function run(request: ISCSIRequest): ISCSIOutcome {
    rmSync(`${directory}/args`, { force: true });
    const input = `${JSON.stringify({ kind: "iscsi", request })}\n`;
    const [program, ...args] = childCommand();
    const { stdout, stderr, status } = spawnSync(program, args, { input, encoding: "utf8" });
    expect(status, stderr).to.equal(0);
    return JSON.parse(stdout) as ISCSIOutcome;
  }
  const seen = (name: string) => readFileSync(`${directory}/${name}`, "utf8");
  const ofNode = () => ({ nodeProcess: pidOf(node) });
  const login = (like: string) => ({
    login: {
      iqn: "iqn.2024-01.example:a",
      portal: { address: "10.0.0.1", port: 3260 },
      interface: { name: "nodevolume-x", like },
      session: { username: "ua", password },
    },
  });

  it("has the password in the one record that there is, and not in arguments", () => {
    expect(run({ ...ofNode(), ...login("eth1") })).to.deep.equal({ step: "done" });
    expect(seen("args").trim().split("\n")).to.deep.equal([
      "-m node -T iqn.2024-01.example:a -p 10.0.0.1:3260 -I nodevolume-x -o new",
      "-m node -T iqn.2024-01.example:a -p 10.0.0.1:3260 -I nodevolume-x --login",
    ]);
    const lines = seen("records").split("\n");
    expect(lines).to.include.members([
      "/etc/iscsi/initiatorname.iscsi:InitiatorName=iqn.node",
      "/etc/iscsi/ifaces/nodevolume-x:iface.net_ifacename = eth1",
      "/etc/iscsi/nodes/t/p:node.session.scan = manual",
      `/etc/iscsi/nodes/t/p:node.session.auth.password = ${password}`,
    ]);
    expect(lines.filter((line) => /other|scan = auto|ifaces\/eth1/.test(line))).to.deep.equal([]);
  });

  it("leaves the node's as it is: records of others stay, and ours were never there", () => {
    run({ ...ofNode(), ...login("default") });
    const root = `/proc/${node.pid}/root/etc/iscsi`;
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name).sort()).to.deep.equal(["eth1", "initiatorname.iscsi", "p"]);
    expect(readFileSync(`${root}/nodes/other/p`, "utf8")).to.equal("node.name = other\n");
    expect(readFileSync(`/proc/${node.pid}/mountinfo`, "utf8")).not.to.contain("nodevolume-iscsi");
    expect(readFileSync("/proc/self/mountinfo", "utf8")).not.to.contain("nodevolume-iscsi");
  });

  const discovery = { username: "d", password: "canary of d" };

  it("gets no password where its records are not covered, and what was made there goes again", () => {
    const { login: plain } = login("default");
    const request = { ...ofNode(), login: { ...plain, discovery } };
    expect(run(request)).to.deep.equal({ step: "missing", what: "database" });
    const root = `/proc/${node.pid}/root/var/lib/iscsi`;
    expect(readdirSync(root, { recursive: true })).to.deep.equal(["send_targets"]);
    expect(seen("args").trim().split("\n").at(-1)).to.match(/^-m discoverydb .* -o delete$/);
  });

  it("names a few of very many targets, and says how many more there are", () => {
    const { login: plain } = login("default"); // its directory is there by now, and so it is covered
    const outcome = run({ ...ofNode(), login: { ...plain, discovery } });
    expect(outcome).to.have.property("step", "target");
    const named = [0, 1, 2, 3].map((n) => `iqn.2024-01.example:${n}`).join(", ");
    expect(outcome).to.have.property("said", `${named} and 3996 more`);
    const left = readdirSync(`/proc/${node.pid}/root/var/lib/iscsi`, { recursive: true });
    expect(left).to.deep.equal(["send_targets"]);
  });

  it("has for a logout the interface that the session is known by", () => {
    const logout = { number: 3, interface: "nodevolume-x" };
    expect(run({ ...ofNode(), logout })).to.deep.equal({ step: "done" });
    expect(seen("args").trim()).to.equal("-m session -r 3 --logout");
    expect(seen("records")).to.contain("/etc/iscsi/ifaces/nodevolume-x:iface.iscsi_ifacename = nodevolume-x");
  });

  it("an interface that the node has not, and a node without iscsiadm, are told as such", () => {
    expect(run({ ...ofNode(), ...login("eth9") })).to.deep.equal({ step: "missing", what: "interface" });
    rmSync(`/proc/${node.pid}/root/usr/sbin/iscsiadm`);
    expect(run({ ...ofNode(), ...login("eth1") })).to.deep.equal({ step: "missing", what: "iscsiadm" });
  });
});
