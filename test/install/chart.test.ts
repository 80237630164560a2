// What docs/release.md and docs/tasks/uninstall.md have on the Helm chart, on a real kubelet: each test goes on where
// the one before it ended.
import { expect } from "chai";
import { differing } from "../lib/builders/differing.ts";
import { commandsOf, typeAsAdmin } from "../lib/install/install-page.ts";
import { buildOnce, sharedInstallWorld } from "../lib/install/install-shared.ts";
import { story } from "../lib/install/install-story.ts";
import {
  Chart,
  fieldsInCluster,
  forgetPeople,
  inForce,
  installFile,
  namesInCluster,
} from "../lib/install/install-ways.ts";
import type { InstallWorld } from "../lib/install/install-world.ts";

const path = "/var/lib/nodevolume/mounts/by-helm";
const page = "docs/tasks/uninstall.md";
const set = {
  apiVersion: "nodevolume.dev/v1alpha1",
  kind: "NodeVolumeSet",
  metadata: { name: "by-helm" },
  spec: { volume: { source: { emptyDir: { medium: "Memory" } } }, mounts: [{ name: "host", path }] },
};

describe("installed by its Helm chart", () => {
  let world: InstallWorld;
  let chart: Chart;
  const it = story();

  before(async function () {
    world = await sharedInstallWorld(this);
    await buildOnce(world, "0.1.0");
    chart = await Chart.make(world, "0.1.0");
  });
  afterEach(async function () {
    if (this.currentTest?.state === "failed") console.log(await world.told());
  });

  const mounted = async () => (await world.node.host.mounts()).filter((line) => line.split(" ")[4] === path).length;

  it("comes up, and mounts a set", async function () {
    this.timeout(300_000);
    await chart.install();
    await inForce(world);
    await world.admin.run(["apply", "--server-side", "-f", "-"], JSON.stringify(set));
    await world.admin.run(["wait", "--for=condition=Ready", "nodevolumeset/by-helm", "--timeout=60s"]);
    expect(await mounted()).to.equal(1);
  });

  it("is what the one file and kustomize install: to apply these changes no object", async () => {
    const file = await installFile(world, "0.1.0");
    const before = await fieldsInCluster(world, file);
    for (const given of [
      ["-f", file],
      ["-k", world.overlay("0.1.0")],
    ]) {
      // Helm owns fields that the API server completes, as it completed them.
      await world.admin.run(["apply", "--server-side", "--force-conflicts", ...given]);
      const after = await fieldsInCluster(world, file);
      const changes = [...differing(before, after)].map((field) => [field, before.get(field), after.get(field)]);
      expect(changes).to.deep.equal([]);
    }
    console.log(`    ${before.size} fields: the same by chart, install.yaml and kustomize`);
  });

  it("is removed as docs/tasks/uninstall.md says", async function () {
    this.timeout(300_000);
    const [annotateAndPatch = ""] = commandsOf(page, "to uninstall").split("kubectl delete -k");
    await typeAsAdmin(world, annotateAndPatch, "");
    expect(await mounted()).to.equal(0);
    await chart.uninstall();
    await typeAsAdmin(world, commandsOf(page, "after helm uninstall"), "");
    await forgetPeople(world);
    // The namespace goes with the last of its pods.
    await world.objects.until("all of it to be gone", 120_000, async () => (await namesInCluster(world)).length === 0);
  });
});
