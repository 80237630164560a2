import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../../hack/lib/agent-on-kernel/intent.ts";
import { until } from "../../../hack/lib/until.ts";
import { noProblems } from "../../../src/agent/model/actual-volume.ts";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import type { VolumePlan } from "../../../src/agent/model/volume-plan.ts";
import type { RBDVolumeSource } from "../../../src/api/types.gen.ts";
import { addedText } from "../../../src/host/linux/rbd/rbd-text.ts";
import { cephArgs } from "../../../src/plugins/network/ceph.ts";
import { mappingOf } from "../../../src/plugins/network/rbd.ts";
import {
  bus,
  mappedDevices as devices,
  keyOfVM,
  monitorOfVM,
  rbdOfVM,
  secretOfVM,
  unmapAll,
  wrongKey,
} from "../../contract/ceph-kernel-cases.ts";
import type { RealNode } from "../../lib/kernel/real-node.ts";
import { tellCluster } from "../../lib/servers/ceph-control.ts";
import { eachOnCephNode } from "../../lib/servers/ceph-node.ts";

describe("rbd by the kernel's client", () => {
  let node: RealNode;

  eachOnCephNode((of) => {
    node = of;
  }, unmapAll);

  const source = (image: string, changes: Partial<RBDVolumeSource> = {}) => rbdOfVM({ image, ...changes });
  const volume = (rbd: RBDVolumeSource, deleting = false) =>
    intent({ name: "node.image", source: { rbd }, mounts: [{ path: node.target("image") }], deleting });

  async function settled(): Promise<VolumePlan> {
    await node.converge();
    return node.volume(asVolumeName("node.image"));
  }

  it("waits while another client writes to the image, and has it when that one has given it back", async () => {
    // By another line, so that it is not taken for ours: another client of the cluster, as one on another node is.
    const { text } = mappingOf(source("shared", { monitors: [monitorOfVM(3300)] }));
    writeFileSync(`${bus}/add_single_major`, addedText(text, keyOfVM()));
    node.want(volume(source("shared")));
    const { failure } = await settled();
    expect(failure).to.include({ reason: "VolumeHeldElsewhere" });
    const [other] = devices();
    expect(devices().length).to.equal(1);
    writeFileSync(`${bus}/remove_single_major`, `${other}`);
    node.forgetFailures();
    expect((await settled()).failure?.message).to.equal(undefined);
  });

  it("of two images that the cluster has cut one off leaves the other as it is", async () => {
    const images = ["cut-off", "beside"].map((image) => mappingOf(source(image)).text);
    for (const text of images) writeFileSync(`${bus}/add_single_major`, addedText(text, keyOfVM()));
    const shown = (id: string, file: string) => readFileSync(`${bus}/devices/${id}/${file}`, "utf8").trim();
    const [cutOff = "", beside = ""] = ["cut-off", "beside"].map((image) =>
      devices().find((id) => shown(id, "name") === image),
    );
    const write = (id: string) =>
      execFileSync("dd", ["if=/dev/zero", `of=/dev/rbd${id}`, "bs=4k", "count=1", "oflag=direct"]);
    for (const id of [cutOff, beside]) write(id);
    await tellCluster({ ceph: ["osd", "blocklist", "add", shown(cutOff, "client_addr")] });
    await until("an error of the one that is cut off", 60_000, () => {
      try {
        write(cutOff);
        return false;
      } catch {
        return true;
      }
    });
    write(beside);
  });

  it("makes the file system that an empty image gets; a release gives the image back", async () => {
    const wanted = source("empty", { fsType: "ext4" });
    node.want(volume(wanted));
    expect((await settled()).failure?.message).to.equal(undefined);
    expect(readdirSync(node.target("image"))).to.deep.equal(["lost+found"]);
    node.want(volume(wanted, true));
    expect((await settled()).phase).to.equal("released");
    expect(devices()).to.deep.equal([]);
  });

  for (const [what, changes, key, reason] of [
    ["a key that is wrong", {}, wrongKey, "CredentialsRefused"],
    ["an image that is not there", { image: "nope" }, undefined, "ShareNotFound"],
    ["a pool that is not there", { pool: "nope" }, undefined, "ShareNotFound"],
    ["an image without the lock", { image: "plain" }, undefined, "ImageUnsupported"],
  ] as const) {
    it(`says of ${what} that it is, and leaves nothing mapped`, async () => {
      if (key !== undefined) node.contents.set("ceph", secretOfVM(key));
      node.want(volume(source("shared", changes)));
      const { failure } = await settled();
      expect(failure).to.include({ reason });
      expect(failure?.message).not.to.contain(key ?? keyOfVM());
      expect(devices()).to.deep.equal([]);
    });
  }

  it("for reading alone is mapped without the lock, whatever the image has", async () => {
    node.want(volume(source("plain", { readOnly: true })));
    const { failure, problems } = await settled();
    expect(failure?.message).to.equal(undefined);
    expect(problems).to.deep.equal(noProblems);
    expect(node.mountAt(node.target("image"))?.options).to.include("ro");
    expect(readFileSync(`/sys/block/rbd${devices()[0]}/ro`, "utf8")).to.equal("1\n");
  });

  it("is refused to grow while it is mapped; grown when it was given back, its file system follows", async () => {
    const mounted = async () => {
      node.want(volume(source("shared")));
      expect((await settled()).failure?.message).to.equal(undefined);
      return Number(execFileSync("stat", ["-f", "--format=%b", node.target("image")], { encoding: "utf8" }));
    };
    const before = await mounted();
    const keyFile = `${node.path}/key`;
    writeFileSync(keyFile, keyOfVM());
    const args = ["resize", "--no-progress", "--size=96M", "rbd/shared", ...cephArgs(source("shared"), keyFile)];
    const grow = () => execFileSync("rbd", args, { encoding: "utf8", stdio: "pipe" });
    expect(grow).to.throw(/Read-only file system/);
    node.want(volume(source("shared"), true));
    expect((await settled()).phase).to.equal("released");
    grow();
    expect(await mounted()).to.be.greaterThan(before);
  });
});
