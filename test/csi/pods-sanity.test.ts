// csi-sanity against csi.nodevolume.dev, in the agent's own process. Which specs do not apply, and why, is in
// docs/pods.md.
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { csiDir, registrationDir, seenFromOutside } from "../../hack/lib/csi/paths.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { layout } from "../../hack/lib/pretend-node/node.ts";
import { root } from "../../hack/lib/root.ts";
import { locateTool } from "../../hack/lib/tools/locate.ts";
import { until } from "../../hack/lib/until.ts";
import { driverSocket } from "../../src/csi/server/socket-paths.ts";
import { testCluster } from "../lib/cluster/cluster.ts";
import { sanityRun } from "../lib/csi/csi-sanity.ts";
import { type CSITestNode, CSIWorld } from "../lib/csi/csi-world.ts";
import { intentForPod, podContext, podUID } from "../lib/csi/pod-of-test.ts";
import { PodSanityFront } from "../lib/csi/pod-sanity-front.ts";

const volumes = join(layout.kubeletDir, "pods", podUID, "volumes/kubernetes.io~csi");
const source = "/mnt/data-of-the-test";

slowSuite("csi-sanity on the driver for pods", () => {
  let world: CSIWorld;
  let node: CSITestNode;
  let sanity: string;

  before(async function () {
    const cluster = await testCluster(this);
    sanity = await locateTool("csi-sanity", { env: process.env, report: (line) => console.log(`  ${line}`) });
    world = await CSIWorld.start(cluster);
    node = await world.addNode("pods-sanity");
    await node.host.run("mkdir", "-p", registrationDir, volumes, source);
    await cluster.adminKubectl.run(["apply", "-f", join(root, "config/agent/csi-driver.yaml")]);
    // The cluster is the lane's, and there are tests in which it has none.
    world.onEnd(() => world.objects.remove("/apis/storage.k8s.io/v1/csidrivers/csi.nodevolume.dev"));
    const intents = "/apis/nodevolume.dev/v1alpha1/nodevolumeintents";
    const { status } = await world.cluster.admin.call("POST", intents, { body: intentForPod(node, source) });
    expect(status).to.equal(201);
    await node.startAgent();
  });
  after(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  it("passes every spec that applies: identity, node service, and the node's part of a volume's life", async () => {
    const driver = seenFromOutside(node.host, driverSocket(csiDir));
    await until("the driver to listen", 20_000, () => existsSync(driver));
    const socket = join(world.directory, "front.sock");
    const front = await new PodSanityFront({ socket, driver, volumeContext: podContext }).start();
    world.onEnd(() => front.stop());
    const checkPath = join(world.directory, "check-path.sh");
    writeFileSync(checkPath, checkPathScript);
    chmodSync(checkPath, 0o755);
    const { passed, chosen, failures } = await sanityRun(node.host, sanity, [
      `--csi.endpoint=unix://${socket}`,
      `--csi.mountdir=${volumes}/data`,
      `--csi.stagingdir=${layout.kubeletDir}/staging`,
      `--csi.checkpathcmd=${checkPath}`,
      "--ginkgo.focus=Node Service|Identity Service",
    ]);
    expect(failures).to.equal("");
    expect([chosen, passed]).to.deep.equal([30, 13]);
    expect(front.calls.get("nodePublishVolume")).to.be.greaterThan(2);
    expect(await node.mountsAt(`${volumes}/data/mount`)).to.deep.equal([]);
  });
});

/** csi-sanity looks at `target` whether the path is there; kubelet calls it `mount`. */
const checkPathScript = `#!/bin/sh
path="\${1%/target}/mount"
if [ -d "$path" ]; then echo directory; elif [ -e "$path" ]; then echo file; else echo not_found; fi
`;
