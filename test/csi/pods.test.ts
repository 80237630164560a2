// The agent's own process as the driver for pods: found on its registration socket, called as kubelet calls, killed in
// between.
import { join } from "node:path";
import type { ServiceError } from "@grpc/grpc-js";
import { expect } from "chai";
import { csiDir, registrationDir, seenFromOutside } from "../../hack/lib/csi/paths.ts";
import { layout } from "../../hack/lib/pretend-node/node.ts";
import type { RunningProcess } from "../../hack/lib/process.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { grpcDialer } from "../../src/csi/client/grpc-connection.ts";
import { RegistrationClient } from "../../src/csi/registry/registration-client.ts";
import { driverSocket, registrationSocket } from "../../src/csi/server/socket-paths.ts";
import { systemClock } from "../../src/system.ts";
import { testCluster } from "../lib/cluster/cluster.ts";
import { csiCalls, mountable } from "../lib/csi/csi-calls.ts";
import { type CSITestNode, CSIWorld } from "../lib/csi/csi-world.ts";
import { intentForPod, podContext, podUID } from "../lib/csi/pod-of-test.ts";

const volumeDir = join(layout.kubeletDir, "pods", podUID, "volumes/kubernetes.io~csi/data");
const targetPath = join(volumeDir, "mount");
const volumeId = "csi-1";
const source = "/mnt/data-of-the-test";

describe("the agent as the driver for pods", () => {
  let world: CSIWorld;
  let node: CSITestNode;
  let agent: RunningProcess;

  before(async function () {
    world = await CSIWorld.start(await testCluster(this));
    node = await world.addNode("pods");
    // What kubelet makes, and what the volume is.
    await node.host.run("mkdir", "-p", registrationDir, volumeDir, source);
    await node.host.run("sh", "-c", `echo content > ${source}/file`);
    const path = "/apis/nodevolume.dev/v1alpha1/nodevolumeintents";
    const { status, body } = await world.cluster.admin.call("POST", path, { body: intentForPod(node, source) });
    expect(status, JSON.stringify(body)).to.equal(201);
    agent = await node.startAgent();
    await found();
  });
  after(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  const socket = () => seenFromOutside(node.host, driverSocket(csiDir));
  /** Resolves once a registrar answers; what it says. */
  async function found() {
    const path = seenFromOutside(node.host, registrationSocket(registrationDir));
    let info: Awaited<ReturnType<RegistrationClient["info"]>> | undefined;
    await until("the driver to register", 20_000, async () => {
      const registrar = new RegistrationClient(grpcDialer(systemClock).dial(path));
      info = await registrar.info().catch(() => undefined);
      registrar.close();
      return info !== undefined;
    });
    return info;
  }
  /** What the call comes to: "OK", or the status in words. */
  const call = async (method: "nodePublishVolume" | "nodeUnpublishVolume", request: object, deadlineMs?: number) => {
    using csi = csiCalls(socket());
    return await csi.call(method, { volumeId, targetPath, ...request }, deadlineMs).then(
      () => "OK",
      ({ message }: ServiceError) => message,
    );
  };
  const publish = (more: object = {}, deadlineMs?: number) =>
    call("nodePublishVolume", { volumeCapability: mountable(), volumeContext: podContext, ...more }, deadlineMs);

  it("says its name, its endpoint and its node", async () => {
    expect(await found()).to.deep.equal({
      type: "CSIPlugin",
      name: "csi.nodevolume.dev",
      endpoint: driverSocket(csiDir),
      supportedVersions: ["1.0.0"],
    });
    using csi = csiCalls(socket());
    expect(await csi.call("nodeGetInfo")).to.include({ nodeId: "pods" });
  });

  it("publishes nothing before the cluster has the CSIDriver object of config", async () => {
    expect(await publish()).to.match(
      /^9 FAILED_PRECONDITION: CSIDriverWrong: there is no CSIDriver csi.nodevolume.dev/,
    );
    await world.cluster.adminKubectl.run(["apply", "-f", join(root, "config/agent/csi-driver.yaml")]);
  });

  it("gives the volume to the pod, once, and says what it waits for with a pod that no intent names", async () => {
    expect(await publish()).to.equal("OK");
    expect(await publish()).to.equal("OK");
    expect(await node.mountsAt(targetPath)).to.have.length(1);
    expect(await node.host.run("cat", `${targetPath}/file`)).to.equal("content\n");
    const other = targetPath.replace(podUID, "another");
    const context = new Map([...podContext, ["csi.storage.k8s.io/pod.uid", "another"]]);
    await node.host.run("mkdir", "-p", join(other, ".."));
    expect(await publish({ targetPath: other, volumeContext: context }, 6_000)).to.match(/^10 ABORTED: PodNotListed: /);
  });

  it("leaves the pod its mount when it is killed, and is found again", async () => {
    agent.kill("SIGKILL");
    await agent.ended;
    expect(await node.mountsAt(targetPath)).to.have.length(1);
    agent = await node.startAgent();
    await found();
    expect(await publish()).to.equal("OK");
    expect(await node.mountsAt(targetPath)).to.have.length(1);
  });

  it("takes back what kubelet gives back, with the path", async () => {
    expect(await call("nodeUnpublishVolume", {})).to.equal("OK");
    expect(await node.mountsAt(targetPath)).to.have.length(0);
    expect(await node.host.run("ls", volumeDir)).to.equal("");
    expect(await call("nodeUnpublishVolume", {})).to.equal("OK");
  });

  it("leaves its socket in kubelet's directory when it ends, and takes it away where pods shall not be served", async () => {
    const sockets = () => node.host.run("ls", registrationDir);
    await agent.stop();
    expect(await sockets()).to.equal("csi.nodevolume.dev-reg.sock\n");
    agent = await node.startAgent(["--pods=false"]);
    await until("the socket to be gone", 20_000, async () => (await sockets()) === "");
  });
});
