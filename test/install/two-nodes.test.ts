// Two real kubelets in one cluster, each with mounts, processes and a network of its own: each test goes on where the
// one before it ended.
import { expect } from "chai";
import { createApiClient } from "../../hack/lib/api-client.ts";
import type { MachineWithKubelet } from "../../hack/lib/kubelet-node/start.ts";
import { until } from "../../hack/lib/until.ts";
import { ofSet, Pods } from "../lib/cluster/pods.ts";
import { commandsOf, typeAsAdmin } from "../lib/install/install-page.ts";
import { buildOnce, sharedInstallWorld } from "../lib/install/install-shared.ts";
import { story } from "../lib/install/install-story.ts";
import { forgetPeople, installByKustomize, namesInCluster } from "../lib/install/install-ways.ts";
import type { InstallWorld } from "../lib/install/install-world.ts";

const version = "0.1.0";
const pathOf = (set: string) => `/var/lib/nodevolume/mounts/${set}`;
const hostname = "kubernetes.io/hostname";

describe("on two real kubelets", () => {
  let world: InstallWorld;
  let pods: Pods;
  let second: MachineWithKubelet;
  let onFirst = "";
  const it = story();

  before(async function () {
    world = await sharedInstallWorld(this);
    const { server, ca, credentials } = world.plane;
    pods = new Pods(createApiClient({ server, ca, token: credentials.adminToken }));
    await buildOnce(world, version);
  });
  afterEach(async function () {
    if (this.currentTest?.state === "failed") console.log(await world.told());
  });
  after(async function () {
    this.timeout(120_000);
    pods?.[Symbol.dispose]();
    await second?.stop();
  });

  const apply = (name: string, more: object = {}) => {
    const volume = { source: { emptyDir: { medium: "Memory", sizeLimit: "4Mi" } } };
    const spec = { volume, mounts: [{ name: "host", path: pathOf(name) }], ...more };
    const set = { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet", metadata: { name }, spec };
    return world.admin.run(["apply", "--server-side", "-f", "-"], JSON.stringify(set));
  };
  /** Lines of a node's mount table that are mounts of a set. */
  const mounts = async (node: MachineWithKubelet, set: string) =>
    (await node.host.mounts()).filter((line) => line.split(" ")[4] === pathOf(set));
  const files = async (node: MachineWithKubelet, set: string) => (await node.host.run("ls", pathOf(set))).trim();

  it("gives a second node its agent and the volumes of a set as soon as its kubelet is there", async function () {
    this.timeout(300_000);
    await installByKustomize(world, version);
    await apply("everywhere", { allowedNamespaces: { names: ["default"] } });
    await world.objects.ready("everywhere", 1);
    [onFirst = ""] = await mounts(world.node, "everywhere");
    second = await world.addSecondNode(version);
    await world.objects.ready("everywhere", 2, 90_000);
    expect(await mounts(second, "everywhere")).to.have.lengthOf(1);
    expect(await mounts(world.node, "everywhere")).to.deep.equal([onFirst]);
  });

  it("mounts a set only on the node that it selects", async () => {
    await apply("selected", { nodeSelector: { [hostname]: second.name } });
    await world.objects.ready("selected", 1);
    expect([await mounts(world.node, "selected"), (await mounts(second, "selected")).length]).to.deep.equal([[], 1]);
  });

  it("gives the pods of each node that node's volume", async function () {
    this.timeout(120_000);
    for (const [name, node] of [
      ["first", world.node],
      ["second", second],
    ] as const)
      await pods.create(name, [ofSet("data", "everywhere")], { nodeSelector: { [hostname]: node.name } });
    await pods.ready(60_000, "first", "second");
    const written = async () => [await files(world.node, "everywhere"), await files(second, "everywhere")].join();
    await until("each pod to have written", 30_000, async () => (await written()) === "first,second", written);
  });

  it("repairs a drift on one node, names the node, and touches nothing on the other", async () => {
    await second.host.run("umount", pathOf("selected"));
    const again = async () => (await mounts(second, "selected")).length === 1;
    await world.objects.until("it to be mounted again", 30_000, again);
    const messages = `jsonpath={range .items[*]}{.involvedObject.kind}/{.involvedObject.name}: {.message}{"\\n"}{end}`;
    const events = () => world.admin.run(["get", "events", "-A", "-o", messages]);
    const intent = world.objects.intentOn("selected", second.name)?.metadata.name;
    const named = async () =>
      (await events())
        .split("\n")
        .some(
          (line) =>
            line.startsWith(`NodeVolumeIntent/${intent}: `) &&
            line.includes(`${pathOf("selected")} was unmounted by somebody else`),
        );
    await world.objects.until("an Event of that node's intent to say so", 30_000, named);
    expect(await mounts(world.node, "everywhere")).to.deep.equal([onFirst]);
  });

  it("says that the agent is lost when the machine stops, and keeps its volumes until there is proof", async function () {
    this.timeout(700_000);
    await second.stop();
    const onLost = () => world.objects.intentOn("everywhere", second.name);
    const ready = () => onLost()?.status?.conditions?.find(({ type }) => type === "Ready");
    // Three minutes after the last renewal of its Lease, which may be a moment before the stop.
    await world.objects.until("the agent to be lost", 600_000, () => ready()?.reason === "AgentLost");
    expect(ready()?.status).to.equal("Unknown");
    expect(pods.isReady("first")).to.equal(true);
    expect(await mounts(world.node, "everywhere")).to.deep.equal([onFirst]);
    await world.admin.run(["delete", "nodevolumeset", "selected", "--wait=false"]);
    const isKept = () => world.objects.intentOn("selected", second.name)?.metadata.deletionTimestamp !== undefined;
    await world.objects.until("the deletion to reach the lost node", 30_000, isKept);
    // For as long as a set that is released takes, from its creation to its end.
    await apply("released", { nodeSelector: { [hostname]: world.node.name } });
    await world.objects.ready("released", 1);
    await world.admin.run(["delete", "nodevolumeset", "released", "--wait=false"]);
    await world.objects.until("another set to be gone", 60_000, () => !world.objects.sets.has("released"));
    expect([world.objects.sets.has("selected"), isKept()]).to.deep.equal([true, true]);
  });

  it("gives everything of the lost node up once somebody says that it is out of service", async function () {
    this.timeout(300_000);
    const outOfService = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute";
    await world.admin.run(["taint", "node", second.name, outOfService]);
    await world.objects.until("the set to be gone", 120_000, () => !world.objects.sets.has("selected"));
    expect(await mounts(world.node, "everywhere")).to.deep.equal([onFirst]);
    await pods.clear(120_000);
    await world.admin.run(["delete", "node", second.name]);
    await typeAsAdmin(world, commandsOf("docs/tasks/uninstall.md", "to uninstall"), world.overlay(version));
    await forgetPeople(world);
    await until("all of it to be gone", 120_000, async () => (await namesInCluster(world)).length === 0);
  });
});
