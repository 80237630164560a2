import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withDisk } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");
const megabytes = 48;
const bytes = megabytes * 1024 * 1024;
const byFields = { disk: { transport: "loop", minSize: bytes, maxSize: bytes, empty: true } };

describe("a disk that a VolumeAttachment of another driver has, on the real kernel", function () {
  this.timeout(120_000);
  let node: RealNode;
  let disk: string;

  withDisk(megabytes, ["mkfs.ext4", "ext4"], (path, made) => {
    node = made;
    disk = path;
  });

  const local = (source: object, spec: object) =>
    intent({ source: { local: source }, fsType: "ext4", ...spec, mounts: [{ path: node.target("a") }] });
  const failure = async () => (await node.volume(name)).failure;
  const signature = () => execFileSync("sh", ["-c", `blkid -p -o value -s TYPE ${disk} || true`], { encoding: "utf8" });

  for (const [how, source, reason] of [
    ["its path", (path: string) => ({ path }), "DeviceBusy"],
    ["its properties", () => byFields, "DiskNotFound"],
  ] as const) {
    slow(`is left alone by ${how}, and driver, claim and attachment are named`, async () => {
      const attached = {
        volumeAttachment: "csi-6b1f",
        driver: "ebs.example",
        persistentVolume: "pvc-7",
        claim: "db/data",
      };
      const grant = { id: "grant-1", disk: "" };
      node.want(local(source(disk), { grant }));
      expect((await failure())?.reason, "nobody has answered").to.equal("DiskNotCompared");
      const request = (await node.journal()).records.get(name)?.attachmentsAsked?.request ?? "";
      const answered = (volumes: readonly object[], generation: number) =>
        node.want(local(source(disk), { grant: { ...grant, attachments: { request, volumes } }, generation }));
      answered([{ ...attached, names: [disk] }], 2);
      const busy = await failure();
      expect(busy?.reason).to.equal(reason);
      for (const who of ["ebs.example", "pvc-7", "db/data", "csi-6b1f"]) expect(busy?.message).to.include(who);
      expect(signature(), "nothing was written").to.equal("");
      answered([], 3);
      expect((await failure())?.message).to.equal(undefined);
      expect(node.mountAt(node.target("a"))?.source).to.equal(disk);
      expect((await node.journal()).records.get(name)?.attachmentsAsked, "it asks no more").to.equal(undefined);
    });
  }
});
