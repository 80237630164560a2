// A claim on a node, from its provisioning to its end, on real parts: loop-xfs, sidecars, kube-controller-manager, our
// controller and agent.
import { expect } from "chai";
import { handleOf, type Stories, type StoryNode, startStories, storageClass } from "../lib/csi/csi-stories.ts";

const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
const attachments = "/apis/storage.k8s.io/v1/volumeattachments";

describe("a claim on a node", () => {
  let stories: Stories;
  let node: StoryNode;
  let handle: string;
  const [data, reports] = ["/mnt/nodevolume/data", "/mnt/nodevolume/reports"];

  before(async function () {
    stories = await startStories(this, { nodes: ["node-1"] });
    [node] = stories.nodes as [StoryNode];
  });

  const intent = () => stories.objects.intentOn("data", "node-1");
  const claim = async () => (await stories.world.objects.get(`${claims}/data`)) as Claim | undefined;
  const attached = async () => {
    const list = (await stories.world.objects.get(attachments)) as { items: { metadata: { name: string } }[] };
    return list.items.map(({ metadata }) => metadata.name);
  };
  const sizeOn = async (path: string) => Number((await node.host.run("stat", "-f", "-c", "%b", path)).trim());

  it("is provisioned, attached, staged once and published at two paths", async () => {
    await stories.world.objects.claim("data", { storageClass, size: "320Mi" });
    handle = handleOf(await stories.world.objects.bound("data"));
    await stories.apply("data", {
      nodeSelector: { "kubernetes.io/hostname": "node-1" },
      volume: { source: { persistentVolumeClaim: { namespace: "default", claimName: "data" } } },
      mounts: [
        { name: "data", path: data },
        { name: "reports", path: reports, readOnly: true },
      ],
    });
    await stories.objects.ready("data", 1, 60_000);
    expect(stories.effects(handle).join(" ")).to.equal("created attached formatted staged published published grown");
    await node.host.run("sh", "-c", `echo hello > ${data}/greeting`);
    expect(await node.host.run("cat", `${reports}/greeting`)).to.equal("hello\n");
    expect(await node.host.run("sh", "-c", `echo no > ${reports}/greeting || echo refused`)).to.equal("refused\n");
    expect(await attached()).to.have.lengthOf(1);
    expect((await attached())[0]).to.match(/^nvi-[0-9a-f]{64}$/);
    expect(intent()?.status).to.include({ state: "Mounted", inUse: true });
    expect((await claim())?.metadata.labels).to.have.property("nodevolume.dev/held");
    expect((await claim())?.metadata.finalizers).to.include("nodevolume.dev/in-use");
  });

  it("comes back when somebody unmounts it, without a word to the driver", async () => {
    const before = stories.effects(handle).length;
    await node.host.run("umount", data);
    await stories.objects.until("the mount to be back", 10_000, async () => (await node.mountsAt(data)).length === 1);
    expect(await node.host.run("cat", `${data}/greeting`)).to.equal("hello\n");
    expect(stories.effects(handle).length).to.equal(before);
  });

  it("grows online, and the claim says so", async () => {
    const before = await sizeOn(data);
    await stories.world.objects.patch(`${claims}/data`, { spec: { resources: { requests: { storage: "640Mi" } } } });
    await stories.objects.until("the claim to have its size", 60_000, async () => {
      const { status } = (await claim()) ?? {};
      return status?.capacity?.storage === "640Mi";
    });
    expect(await sizeOn(data)).to.be.greaterThan(before * 1.8);
    expect((await claim())?.status?.conditions ?? []).to.deep.equal([]);
    expect(intent()?.status?.capacityBytes).to.equal(String(640 * 2 ** 20));
  });

  it("is given back in the order that loses nothing", async () => {
    await stories.remove("data");
    const ending = stories.effects(handle).slice(-4);
    expect(ending).to.deep.equal(["unpublished", "unpublished", "unstaged", "detached"]);
    expect(await attached()).to.deep.equal([]);
    expect((await node.host.mounts()).filter((line) => line.includes("/mnt/nodevolume/"))).to.deep.equal([]);
    expect(stories.world.storage.loops()).to.deep.equal([]);
    expect((await claim())?.metadata.labels ?? {}).not.to.have.property("nodevolume.dev/held");
    expect((await claim())?.metadata.finalizers ?? []).not.to.include("nodevolume.dev/in-use");
    await stories.world.objects.remove(`${claims}/data`);
  });
});

interface Claim {
  readonly metadata: { readonly labels?: object; readonly finalizers?: readonly string[] };
  readonly status?: { readonly capacity?: { readonly storage?: string }; readonly conditions?: readonly object[] };
}
