// A driver behind ours that acts as the pod: a real kubelet hands over what the API server gives it for each pod, and
// no more.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { mergePatch } from "../../hack/lib/api-client.ts";
import { hostPath, type RunningDriver } from "../../hack/lib/csi/driver.ts";
import { csiDir } from "../../hack/lib/csi/paths.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { layout } from "../../hack/lib/pretend-node/node.ts";
import { locateTool } from "../../hack/lib/tools/locate.ts";
import { podDriver } from "../../src/api/names.ts";
import { endSuite, type KubeletWorld, kubeletWorld } from "../lib/cluster/kubelet-world.ts";
import { ofSet } from "../lib/cluster/pods.ts";
import { csiCalls, mountable } from "../lib/csi/csi-calls.ts";
import { grpcRequests } from "../lib/csi/grpc-requests.ts";

const name = "acts-as-pods.csi.k8s.io";
const set = "of-each-pod";
const audience = "vault.test";
const key = "csi.storage.k8s.io/serviceAccount.tokens";
const csiDrivers = "/apis/storage.k8s.io/v1/csidrivers";
/** Milliseconds. kubelet looks at a pod each minute to minute and a half. */
const patience = 60_000;
const nextCall = 180_000;

interface Publish {
  readonly target_path: string;
  readonly volume_context: { readonly [key: string]: string };
}

slowSuite("a driver that acts as the pod, behind ours", () => {
  let world: KubeletWorld;
  let driver: RunningDriver;
  let handle: string;

  before(async function () {
    this.timeout(2 * patience);
    world = await kubeletWorld(this);
    const { node, world: inner } = world;
    const { adminKubectl, admin } = inner.cluster;
    for (const account of ["reader", "writer"]) await adminKubectl.run(["create", "serviceaccount", account]);
    // Its log shows the volume context, and no secret: so it is to get its tokens there.
    const asks = { tokenRequests: [{ audience }], requiresRepublish: true, podInfoOnMount: true };
    await inner.objects.csiDriver(name, { attachRequired: false, ...asks });
    const program = await locateTool("hostpathplugin", { env: process.env, report: () => undefined });
    driver = await node.startDriver(hostPath(node.name, program, `${inner.directory}/of-pods`, false, name));
    using csi = csiCalls(driver.outside);
    const request = { name: set, capacityRange: { requiredBytes: "1048576" }, volumeCapabilities: [mountable()] };
    handle = (await csi.call<{ volume: { volumeId: string } }>("createVolume", request)).volume.volumeId;
    await world.apply(set, {
      volume: { source: { csi: { driver: name, volumeHandle: handle } } },
      allowedNamespaces: { names: ["default"] },
    });
    const tokenRequests = [{ audience }, { audience: "of-no-driver.test" }];
    const spec = { tokenRequests, requiresRepublish: true, serviceAccountTokenInSecrets: true };
    const body = { spec };
    const changed = await admin.call("PATCH", `${csiDrivers}/${podDriver}`, { contentType: mergePatch, body });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
  });
  after(async function () {
    await endSuite(this, world);
    if (driver === undefined) return;
    const { adminKubectl, admin } = world.world.cluster;
    const spec = { tokenRequests: null, requiresRepublish: false, serviceAccountTokenInSecrets: null };
    await admin.call("PATCH", `${csiDrivers}/${podDriver}`, { contentType: mergePatch, body: { spec } });
    await driver.stop();
    await admin.call("DELETE", `${csiDrivers}/${name}`);
    await adminKubectl.run(["delete", "serviceaccount", "reader", "writer"]);
  });

  /** What the driver was called with, by its own log. */
  const publishes = (): Publish[] => {
    const log = join(world.world.logs, `${name}-${world.node.name}.log`);
    return grpcRequests(log, "NodePublishVolume").map((text) => JSON.parse(text) as Publish);
  };
  const uidOf = (pod: string) => world.pods.get(pod)?.metadata.uid ?? "";
  const publishesOf = (pod: string) =>
    publishes().filter(({ volume_context }) => volume_context["csi.storage.k8s.io/pod.uid"] === uidOf(pod));
  const tokensIn = ({ volume_context }: Publish) =>
    JSON.parse(volume_context[key] ?? "{}") as { [audience: string]: { token: string } };
  const statusOf = (pod: string) =>
    world.objects.intentOn(set, world.node.name)?.status?.pods?.find(({ uid }) => uid === uidOf(pod));

  /** Whose a token is, by the API server that has given it. */
  async function review(token: string) {
    const body = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token, audiences: [audience] },
    };
    const { admin } = world.world.cluster;
    const answer = await admin.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { body });
    const status = answer.body["status"] as { user?: { username: string; extra?: { [key: string]: string[] } } };
    return [status.user?.username, status.user?.extra?.["authentication.kubernetes.io/pod-uid"]?.[0]];
  }

  it("is called for each pod as that pod, with its tokens for what the driver asks for, and no others", async () => {
    for (const account of ["reader", "writer"])
      await world.pods.create(account, [ofSet("data", set)], { serviceAccountName: account });
    await world.pods.ready(patience, "reader", "writer");
    for (const pod of ["reader", "writer"]) {
      const [first] = publishesOf(pod);
      const tokens = first && tokensIn(first);
      expect(Object.keys(tokens ?? {})).to.deep.equal([audience]);
      expect(await review(tokens?.[audience]?.token ?? "")).to.deep.equal([
        `system:serviceaccount:default:${pod}`,
        uidOf(pod),
      ]);
      expect(first?.volume_context).to.include({
        "csi.storage.k8s.io/pod.name": pod,
        "csi.storage.k8s.io/pod.namespace": "default",
        "csi.storage.k8s.io/serviceAccount.name": pod,
        "csi.storage.k8s.io/ephemeral": "false",
      });
    }
    const paths = new Set(["reader", "writer"].map((pod) => publishesOf(pod)[0]?.target_path));
    expect(paths).to.have.property("size", 2);
  });

  it("is waited with after a restart of the agent, until kubelet brings the tokens anew, and the pods keep what they have", async function () {
    this.timeout(nextCall + patience);
    const { host } = world.node;
    const path = publishesOf("reader")[0]?.target_path ?? "";
    expect(path.startsWith(csiDir)).to.equal(true);
    const [before, others] = [publishesOf("reader").length, publishesOf("writer").length];
    const target = `${layout.kubeletDir}/pods/${uidOf("reader")}/volumes/kubernetes.io~csi/data/mount`;
    // kubelet may call at once: it is held until what comes before its call was seen.
    const kubelet = world.node.kubelet();
    kubelet.kill("SIGSTOP");
    try {
      await world.restartAgent(["--log-level=debug"]);
      await host.run("umount", path);
      await world.objects.until(
        "to wait for the tokens",
        patience,
        () => statusOf("reader")?.reason === "WaitingForToken",
      );
      expect(await world.node.mountsAt(target)).to.have.lengthOf(1);
      expect(publishesOf("reader")).to.have.lengthOf(before);
    } finally {
      kubelet.kill("SIGCONT");
    }
    await world.objects.until("kubelet's next call", nextCall, () => publishesOf("reader").length > before);
    const mended = async () => {
      const at = await Promise.all([path, target].map((one) => world.node.mountsAt(one)));
      return at.every((mounts) => mounts.length === 1) && statusOf("reader")?.reason === undefined;
    };
    await world.objects.until("it to be mended", patience, mended);
    await world.objects.until("the same of the other", nextCall, () => publishesOf("writer").length > others);
    for (const pod of ["reader", "writer"]) {
      const last = publishesOf(pod).at(-1);
      const [account] = await review((last && tokensIn(last)[audience]?.token) ?? "");
      expect(account).to.equal(`system:serviceaccount:default:${pod}`);
    }
    expect([...world.pods.failures]).to.deep.equal([]);
  });

  it("and its tokens are in nothing that is written down", async () => {
    const { world: inner, node, pods } = world;
    const tokens = publishes().map((one) => tokensIn(one)[audience]?.token ?? "");
    expect(new Set(tokens).size).to.be.greaterThan(1);
    // A signature is of one token alone, and its claims name the audience.
    const secrets = [...new Set(tokens)].flatMap((token) =>
      token
        .split(".")
        .slice(1)
        .map((part) => part.slice(0, 40)),
    );
    const { body } = await inner.cluster.admin.call("GET", "/api/v1/events");
    const written: { readonly [where: string]: string } = {
      "the agent's log": readFileSync(join(inner.logs, `agent-${node.name}.log`), "utf8"),
      "the controller's log": readFileSync(join(inner.logs, "controller-0.log"), "utf8"),
      "the journal": await node.host.run("cat", `${layout.stateDir}/journal`),
      "intents and states": JSON.stringify([[...world.objects.intents.values()], [...world.objects.states.values()]]),
      events: JSON.stringify(body),
      "command lines": await node.host.run("sh", "-c", "cat /proc/*/cmdline 2>/dev/null | tr '\\0' ' '; true"),
    };
    for (const [where, text] of Object.entries(written)) {
      expect(text.length, where).to.be.greaterThan(0);
      for (const secret of secrets) expect(text.includes(secret), where).to.equal(false);
    }
    // What was unmounted behind the driver's back it has counted twice since, and does not unstage.
    const targetPath = publishesOf("reader")[0]?.target_path;
    await pods.delete("reader", "writer");
    await pods.gone(patience, "reader", "writer");
    using csi = csiCalls(driver.outside);
    await csi.call("nodeUnpublishVolume", { volumeId: handle, targetPath });
    await world.objects.until("the volume to be released", patience, () => {
      return world.objects.intentOn(set, node.name) === undefined;
    });
  });
});
