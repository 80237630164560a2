import { execFileSync } from "node:child_process";
import { readdirSync, statfsSync } from "node:fs";
import { expect } from "chai";
import type { Case } from "./case.ts";

/** What test/vm/fc.sh shows as LUN 0 of both its ports. */
const backing = "/run/fc/0";

/** A LUN of a Fibre Channel target, which only test/vm has. */
export const fcCase: Case = {
  title: "fc, by two ports of a target",
  needs: ["fc-target", "mkfs.ext4", "ext4"],
  source: () => {
    const targetWWNs = (process.env["NODEVOLUME_FC_TARGETS"] ?? "").split(" ");
    return { fc: { targetWWNs, lun: 0, fsType: "ext4" } };
  },
  spec: { mountOptions: ["commit=17", "errors=remount-ro"] },
  shows: (path) => expect(readdirSync(path)).to.include("lost+found"),
  isGone() {
    const hosts = readdirSync("/sys/class/fc_host").map((name) => name.replace("host", ""));
    const isIt = (address: string) => address.endsWith(":0") && hosts.includes(address.split(":")[0] ?? "");
    expect(readdirSync("/sys/class/scsi_device").filter(isIt), "paths to the LUN").to.deep.equal([]);
  },
  keepsData: true,
  cutOffs: "some",
  onlyFull: ["partly", "busy", "journal alone"],
  table: { fsType: "ext4", source: /^\/dev\/sd[a-z]$/, options: ["commit=17"] },
  grows: {
    from: `${96 * 1024 * 1024}`,
    to: `${128 * 1024 * 1024}`,
    prepare() {
      execFileSync("truncate", ["-s", "128M", backing]);
      const loop = execFileSync("losetup", ["-j", backing, "-O", "NAME", "-n"], { encoding: "utf8" }).trim();
      execFileSync("losetup", ["-c", loop]);
    },
    size(path) {
      const { blocks, bsize } = statfsSync(path);
      return blocks * bsize;
    },
  },
};
