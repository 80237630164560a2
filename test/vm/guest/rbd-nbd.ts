import { EventEmitter, once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../../hack/lib/agent-on-kernel/intent.ts";
import { until } from "../../../hack/lib/until.ts";
import type { ClientWatch } from "../../../src/agent/health/fuse-client-watch.ts";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import { summaryOf } from "../../../src/agent/status/volume-summary.ts";
import type { RBDVolumeSource } from "../../../src/api/types.gen.ts";
import { addedText } from "../../../src/host/linux/rbd/rbd-text.ts";
import { mappingOf } from "../../../src/plugins/network/rbd.ts";
import {
  bus,
  keyOfVM,
  monitorOfVM,
  rbdOfVM,
  secretOfVM,
  unmapAll,
  wrongKey,
} from "../../contract/ceph-kernel-cases.ts";
import { disconnectAll, servedDevices } from "../../contract/rbd-nbd-case.ts";
import { mountedBy, settle, watchClients } from "../../lib/kernel/fuse-clients.ts";
import type { RealNode } from "../../lib/kernel/real-node.ts";
import { eachOnCephNode } from "../../lib/servers/ceph-node.ts";

describe("rbd by rbd-nbd", () => {
  const heard = new EventEmitter();
  let node: RealNode;
  let watch: ClientWatch;

  afterEach(() => watch.stop()); // before its node ends
  const another = eachOnCephNode(
    (of) => {
      node = of;
      watch = watchClients(node, heard);
    },
    disconnectAll,
    unmapAll,
  );

  const source = (changes: Partial<RBDVolumeSource> = {}) => rbdOfVM({ client: "NBD", ...changes });
  const volume = (changes: Partial<RBDVolumeSource> = {}, deleting = false) =>
    intent({
      name: "node.image",
      source: { rbd: source(changes) },
      mounts: [{ path: node.target("image") }],
      deleting,
    });

  it("goes on when its process is killed: the next takes over, and nothing is mounted anew; a release ends both", async () => {
    node.want(volume());
    const first = await mountedBy(node, watch, "image");
    const [before] = node.mounts();
    const file = `${node.target("image")}/file`;
    writeFileSync(file, "before", { flush: true });
    const ended = once(heard, "end");
    process.kill(first.pid, "SIGKILL");
    await ended;
    const seen = (await node.plan()).volumes.get(asVolumeName("node.image"));
    expect(seen && summaryOf(seen).drift).to.include({ class: "Stale" });
    const next = await mountedBy(node, watch, "image");
    expect(next.pid).not.to.equal(first.pid);
    expect(node.mounts()[0]).to.include({ id: before?.id, source: before?.source });
    writeFileSync(file, "after", { flush: true });
    node.want(volume({}, true));
    expect((await settle(node, watch, "image")).phase).to.equal("released");
    expect(servedDevices()).to.deep.equal([]);
    expect(() => readFileSync(`/proc/${next.pid}/stat`)).to.throw(/ENOENT|ESRCH/);
    node.want(volume());
    await mountedBy(node, watch, "image");
    expect(readFileSync(file, "utf8")).to.equal("after");
  });

  it("waits while the kernel of another writes to the image, and has it when that has given it back", async () => {
    const { text } = mappingOf(source({ monitors: [monitorOfVM(3300)] }));
    writeFileSync(`${bus}/add_single_major`, addedText(text, keyOfVM()));
    node.want(volume());
    expect((await settle(node, watch, "image")).failure).to.include({ reason: "VolumeHeldElsewhere" });
    expect(servedDevices()).to.deep.equal([]);
    unmapAll();
    node.forgetFailures();
    await mountedBy(node, watch, "image");
  });

  for (const [what, changes, key, reason] of [
    ["a key that is wrong", {}, wrongKey, "CredentialsRefused"],
    ["an image that is not there", { image: "nope" }, undefined, "ShareNotFound"],
    ["a pool that is not there", { pool: "nope" }, undefined, "ShareNotFound"],
    ["an image without the lock", { image: "plain" }, undefined, "ImageUnsupported"],
  ] as const) {
    it(`says of ${what} that it is, and leaves nothing of it`, async () => {
      if (key !== undefined) node.contents.set("ceph", secretOfVM(key));
      node.want(volume(changes));
      const { failure } = await settle(node, watch, "image");
      expect(failure).to.include({ reason });
      expect(failure?.message).not.to.contain(key ?? keyOfVM());
      expect(servedDevices()).to.deep.equal([]);
    });
  }

  it("serves an image with a feature that the kernel does not know", async () => {
    const { client: _, ...byKernel } = source({ image: "journaled" });
    node.want(intent({ name: "node.image", source: { rbd: byKernel }, mounts: [{ path: node.target("image") }] }));
    expect((await settle(node, watch, "image")).failure).to.include({ reason: "ImageUnsupported" });
    watch.stop();
    await another();
    node.want(volume({ image: "journaled" }));
    await mountedBy(node, watch, "image");
    writeFileSync(`${node.target("image")}/file`, "it", { flush: true });
  });

  it("for reading alone is mapped without the lock, whatever the image has", async () => {
    node.want(volume({ image: "plain", readOnly: true }));
    await mountedBy(node, watch, "image");
    const [device = ""] = servedDevices();
    await until("a device that is read-only", 5_000, () => readFileSync(`/sys/block/${device}/ro`, "utf8") === "1\n");
    expect(node.mountAt(node.target("image"))?.options).to.include("ro");
  });
});
