import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statfsSync } from "node:fs";
import { expect } from "chai";
import type { RealNode } from "../lib/kernel/real-node.ts";
import type { Case } from "./case.ts";
import { versionOf } from "./parts.ts";

const sessions = "/sys/class/iscsi_session";
/** What test/vm/iscsi.sh shows as LUN 2 of its second target, which asks for CHAP. */
const backing = "/run/iscsi/chap-2";
const unit = ["--lld", "iscsi", "--mode", "logicalunit", "--tid", "2", "--lun", "2"];

/** A LUN of an iSCSI target, which only test/vm has. */
export const iscsiCase: Case = {
  title: "iscsi, by CHAP",
  needs: ["iscsi-target", "mkfs.ext4", "ext4"],
  source(node) {
    ua(node, "secret-of-ua-1");
    const targetPortal = process.env["NODEVOLUME_ISCSI_PORTAL"] ?? "";
    const secretRef = { namespace: "default", name: "chap" };
    return {
      iscsi: {
        targetPortal,
        iqn: "iqn.2024-01.example:chap",
        lun: 2,
        fsType: "ext4",
        chapAuthSession: true,
        secretRef,
      },
    };
  },
  spec: { mountOptions: ["commit=17", "errors=remount-ro"] },
  shows: (path) => expect(readdirSync(path)).to.include("lost+found"),
  isGone() {
    const left = readdirSync(sessions).map((name) => readFileSync(`${sessions}/${name}/ifacename`, "utf8").trim());
    expect(left.filter((name) => name.startsWith("nodevolume-"))).to.deep.equal([]);
  },
  keepsData: true,
  cutOffs: "some",
  parts: () => ({ client: versionOf("iscsiadm", "--version"), server: versionOf("tgtadm", "--version") }),
  table: { fsType: "ext4", source: /^\/dev\/sd[a-z]$/, options: ["commit=17"] },
  secrets: ["secret-of-ua-1"],
  refuses(node) {
    ua(node, "canary-of-ua-22");
    return ["canary-of-ua-22"];
  },
  grows: {
    from: `${32 * 1024 * 1024}`,
    to: `${48 * 1024 * 1024}`,
    prepare() {
      execFileSync("truncate", ["-s", "48M", backing]);
      // tgt looks at the size of what it shows when that is made known to it. Nobody asks for anything in between.
      execFileSync("tgtadm", [...unit, "--op", "delete"]);
      execFileSync("tgtadm", [...unit, "--op", "new", "--backing-store", backing]);
    },
    size(path) {
      const { blocks, bsize } = statfsSync(path);
      return blocks * bsize;
    },
  },
};

/** What the Secret says whom to log in as. */
function ua(node: RealNode, password: string): void {
  const data = Object.entries({ "node.session.auth.username": "ua", "node.session.auth.password": password });
  const version = `u/${password.length}`;
  node.contents.set("chap", { version, data: new Map(data.map(([key, value]) => [key, Buffer.from(value)])) });
}
