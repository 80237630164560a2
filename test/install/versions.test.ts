// From version to version on a real kubelet, under a load that nothing may disturb: each test goes on where the one
// before it ended.
import { globSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { createApiClient } from "../../hack/lib/api-client.ts";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { until } from "../../hack/lib/until.ts";
import { ofSet, Pods } from "../lib/cluster/pods.ts";
import { readPage } from "../lib/docs/blocks.ts";
import { type Load, startLoad } from "../lib/install/install-load.ts";
import { buildOlder, missingForOlder } from "../lib/install/install-older.ts";
import { commandsOf, typeAsAdmin } from "../lib/install/install-page.ts";
import { processOf, textOf } from "../lib/install/install-processes.ts";
import { buildOnce, sharedInstallWorld } from "../lib/install/install-shared.ts";
import { story } from "../lib/install/install-story.ts";
import { applyRole, forgetPeople, inForce, installFile, namesInCluster } from "../lib/install/install-ways.ts";
import type { InstallWorld } from "../lib/install/install-world.ts";

const volumes = 50;
const podCount = 8;
const volumesOfPod = 5;
const starts = 50;
const upgradePage = "docs/tasks/upgrade.md";
const uninstallPage = "docs/tasks/uninstall.md";

const memory = { emptyDir: { medium: "Memory", sizeLimit: "4Mi" } };
/** Of the load's volumes: one of the node's directories, one of the agent's, and three in memory of each five. */
const sourceOf = (number: number, directory: string) => {
  if (number % 5 === 0) return { hostPath: { path: `${directory}/load/${number}`, type: "DirectoryOrCreate" } };
  return number % 5 === 1 ? { emptyDir: {} } : memory;
};
const setOf = (name: string, source: object, ...paths: string[]) => ({
  apiVersion: "nodevolume.dev/v1alpha1",
  kind: "NodeVolumeSet",
  metadata: { name },
  spec: {
    volume: { source },
    mounts: paths.map((path, i) => ({ name: `mount-${i}`, path })),
    allowedNamespaces: { names: ["default"] },
  },
});
const pathOf = (name: string) => `/var/lib/nodevolume/mounts/${name}`;

describe("installed by its one file, and taken from version to version under load", () => {
  let world: InstallWorld;
  let pods: Pods;
  let load: Load | undefined;
  /** Where the load's volumes are mounted. */
  let places: ReadonlySet<string> = new Set();
  let mountedBefore: readonly string[] = [];
  const loaded = Array.from({ length: podCount }, (_, i) => `load-${i}`);
  const it = story();

  before(async function () {
    world = await sharedInstallWorld(this);
    const { server, ca, credentials } = world.plane;
    pods = new Pods(createApiClient({ server, ca, token: credentials.adminToken }));
    await buildOnce(world, "0.1.0");
    await buildOnce(world, "0.2.0");
  });
  afterEach(async function () {
    if (this.currentTest?.state === "failed") console.log(await world.told());
  });
  after(() => {
    load?.[Symbol.dispose]();
    pods?.[Symbol.dispose]();
  });

  const apply = (...sets: object[]) => {
    const list = { apiVersion: "v1", kind: "List", items: sets };
    return world.admin.run(["apply", "--server-side", "-f", "-"], JSON.stringify(list));
  };
  const placeOf = (line: string) => line.split(" ")[4] ?? "";
  const isMounted = async (path: string) => (await world.node.host.mounts()).some((line) => placeOf(line) === path);
  const status = () => world.objects.states.get(world.node.name)?.status?.agent;
  const agentIs = (version: string) =>
    world.objects.until(`the agent to be ${version}`, 120_000, () => status()?.version === version);

  /** Of the load's mounts: their ids, parents, devices, roots and mount points. */
  const ids = async () =>
    (await world.node.host.mounts())
      .filter((line) => places.has(placeOf(line)))
      .map((line) => line.split(" ").slice(0, 5).join(" "))
      .sort();

  /** Does something, which the load must not notice. @param what @returns what it showed, for the log */
  async function undisturbed(what: () => Promise<string>): Promise<void> {
    if (load === undefined) throw new Error("there is no load yet");
    const [before, from] = [await ids(), await load.soFar()];
    const showed = await what();
    const to = await load.soFar();
    expect(await ids()).to.deep.equal(before);
    expect(loaded.filter((name) => !pods.isReady(name))).to.deep.equal([]);
    expect([...pods.failures]).to.deep.equal([]);
    const done = `${to.reads - from.reads} reads and ${to.writes - from.writes} writes without an error`;
    console.log(`    ${showed}: ${done}, the same ${before.length} mounts`);
  }

  /** While other sets come and go. @returns how often one was made, changed or deleted */
  async function whileOthersChange(what: () => Promise<void>): Promise<number> {
    let [going, changes] = [true, 0];
    const others = (async () => {
      for (; going; changes += 1) {
        const name = `churn-${changes % 3}`;
        await apply(setOf(name, memory, pathOf(name)));
        if (changes % 2 === 1) await world.admin.run(["delete", "nvs", name, "--timeout=90s"]);
      }
    })();
    others.catch(() => undefined); // it is awaited below, also if it fails before
    try {
      await what();
    } finally {
      going = false;
      await others;
    }
    await world.admin.run(["delete", "nvs", "churn-0", "churn-1", "churn-2", "--ignore-not-found", "--timeout=90s"]);
    return changes;
  }

  /**
   * Has agent and controller do together what they do, for a set and a pod.
   * @param releases whether a deleted set is waited for
   */
  async function exercise(name: string, releases: boolean): Promise<void> {
    const [path, second] = [pathOf(name), pathOf(`${name}-second`)];
    await apply(setOf(name, memory, path));
    await world.objects.ready(name, 1);
    await world.node.host.run("umount", path);
    await world.objects.until("it to be mounted anew", 30_000, () => isMounted(path));
    await pods.create(name, [ofSet("data", name)]);
    await pods.ready(60_000, name);
    await pods.delete(name);
    await pods.gone(60_000, name);
    await apply(setOf(name, memory, path, second));
    await world.objects.until("the second mount", 30_000, () => isMounted(second));
    await world.objects.ready(name, 1);
    await world.admin.run(["delete", "nvs", name, `--wait=${releases}`, "--timeout=60s"]);
    if (releases) expect([await isMounted(path), await isMounted(second)]).to.deep.equal([false, false]);
  }

  it("comes up, and carries 50 volumes on the node and 40 in pods, which are read and written", async function () {
    this.timeout(300_000);
    mountedBefore = await mountsOfOurs();
    await world.admin.run(["apply", "--server-side", "-f", await installFile(world, "0.1.0")]);
    await inForce(world);
    const names = Array.from({ length: volumes }, (_, i) => `load-${i}`);
    await apply(...names.map((name, i) => setOf(name, sourceOf(i, world.directory), pathOf(name))));
    for (const name of names) await world.objects.ready(name, 1, 60_000);
    // Not the directories of the node, which pods may only read.
    const writable = names.filter((_, i) => i % 5 !== 0);
    const used = (pod: number) => writable.slice(pod * volumesOfPod, (pod + 1) * volumesOfPod);
    for (const [i, pod] of loaded.entries()) {
      const sources = used(i).map((set, number) => ofSet(`data-${number}`, set));
      await pods.create(pod, sources);
    }
    await pods.ready(120_000, ...loaded);
    const uids = loaded.map((name) => pods.get(name)?.metadata.uid ?? "none");
    const ofPods = (await world.node.host.mounts())
      .map(placeOf)
      .filter((place) => place.includes("/volumes/kubernetes.io~csi/") && uids.some((uid) => place.includes(uid)));
    expect(ofPods).to.have.lengthOf(podCount * volumesOfPod);
    places = new Set([...names.map(pathOf), ...ofPods]);
    load = startLoad(world, [...places]);
    const { reads, writes } = await load.soFar();
    const there = `${volumes} volumes on the node, ${ofPods.length} mounts in ${podCount} pods`;
    console.log(`    ${there}: ${reads} reads and ${writes} writes until now`);
  });

  it("is upgraded as docs/tasks/upgrade.md says, and no read or write of the load fails", async function () {
    this.timeout(300_000);
    await undisturbed(async () => {
      const commands = commandsOf(upgradePage, "to upgrade");
      const changes = await whileOthersChange(() => typeAsAdmin(world, commands, world.overlay("0.2.0")));
      await agentIs("0.2.0");
      return `upgraded during ${changes} changes to other sets`;
    });
  });

  it("is rolled back as the page says, and no read or write of the load fails", async function () {
    this.timeout(300_000);
    await undisturbed(async () => {
      const commands = commandsOf(upgradePage, "to roll back");
      const changes = await whileOthersChange(() => typeAsAdmin(world, commands, world.overlay("0.1.0")));
      await agentIs("0.1.0");
      return `rolled back during ${changes} changes to other sets`;
    });
  });

  it("has as many mounts and processes after 50 starts of the agent as before", async function () {
    this.timeout(starts * 60_000);
    await undisturbed(async () => {
      await restart();
      const before = await settled();
      const began = performance.now();
      for (let start = 0; start < starts; start += 1) await restart();
      const seconds = (performance.now() - began) / 1000 / starts;
      expect(await settled()).to.deep.equal(before);
      const { node, agent } = before;
      const same = `${node} mounts on the node, ${agent} in the agent's container and the processes as before`;
      return `${starts} starts of the agent, ${seconds.toFixed(1)} s each; ${same}`;
    });

    async function restart(): Promise<void> {
      const was = status()?.epoch ?? 0;
      const agent = ["delete", "pod", "-l", "app.kubernetes.io/component=agent", "--timeout=60s"];
      await world.admin.run(["-n", "nodevolume-system", ...agent]);
      await world.objects.until(
        "the next agent to have looked",
        60_000,
        () => world.objects.agentEpoch(world.node.name) > was,
      );
    }
  });

  it("works with agents of an older build, and then with a controller of an older build", async function () {
    this.timeout(600_000);
    const missing = await missingForOlder();
    if (missing !== undefined) skipBecause(this, missing);
    const older = await buildOlder(world, "0.1.0");
    const newer = world.overlay("0.1.0");
    const controllerIs = (overlay: string) => applyRole(world, overlay, "Deployment").then(() => world.rolledOut());
    const agentOf = async (overlay: string, version: string) => {
      await applyRole(world, overlay, "DaemonSet");
      await agentIs(version);
    };
    await undisturbed(async () => {
      await agentOf(older.overlay, older.version);
      await exercise("older-agent", older.samePolicies);
      return "older agent, this controller (mounted, repaired, used by a pod, changed, released)";
    });
    await undisturbed(async () => {
      await controllerIs(older.overlay);
      await agentOf(newer, "0.1.0");
      await exercise("older-controller", older.samePolicies);
      return "this agent, older controller: the same";
    });
    await controllerIs(newer);
  });

  it("is removed as docs/tasks/uninstall.md says, and leaves what the page lists", async function () {
    this.timeout(300_000);
    const all = await load?.end();
    console.log(`    the load: ${all?.reads} reads, ${all?.writes} writes, longest round ${all?.longestMs} ms`);
    await pods.clear(120_000);
    await typeAsAdmin(world, commandsOf(uninstallPage, "to uninstall"), world.overlay("0.1.0"));
    await forgetPeople(world);
    let names: string[] = [];
    const areGone = async () => {
      names = await namesInCluster(world);
      return names.length === 0;
    };
    await until("all of it to be gone", 60_000, areGone, () => names);
    expect(await mountsOfOurs(), "as before the installation").to.deep.equal(mountedBefore);

    const { run } = world.node.host;
    const left = async () => {
      const found = await run("find", "/mnt", "/run", "/var/lib", "-name", "*nodevolume*", "-prune");
      return found.trim().split("\n").sort();
    };
    console.log(`    left on the node: ${(await left()).join(", ")}`);
    const text = readPage(uninstallPage);
    for (const path of await left()) expect(text).to.include(path);
    expect(await driversOf()).to.include("csi.nodevolume.dev");
    await run("sh", "-ec", commandsOf(uninstallPage, "on the node"));
    // The first of them is a mount of the pretended node's own.
    expect(await left()).to.deep.equal(["/mnt/nodevolume", "/var/lib/nodevolume"]);
    await until("kubelet to forget the driver", 60_000, async () => !(await driversOf()).includes("nodevolume"));
    const node = () => world.admin.run(["get", "node", world.node.name, "-o", "jsonpath={.metadata}{.spec}"]);
    await until("nothing of ours in the Node", 60_000, async () => !(await node()).includes("nodevolume"), node);
  });

  /** Mount points where the project mounts for nobody's pod; the pretended node itself has some. */
  async function mountsOfOurs(): Promise<string[]> {
    const beneath = /^(\/mnt\/nodevolume|\/var\/lib\/nodevolume|\/var\/lib\/kubelet\/plugins\/nodevolume\.dev)(\/|$)/;
    return (await world.node.host.mounts())
      .map(placeOf)
      .filter((place) => beneath.test(place))
      .sort();
  }

  const driversOf = () =>
    world.admin.run(["get", "csinode", world.node.name, "-o", "jsonpath={.spec.drivers[*].name}"]);

  /** What is there once it has not changed for five seconds: who has just ended is gone by then. */
  async function settled() {
    let [last, since] = [await traces(), performance.now()];
    await until("mounts and processes to stay as they are", 60_000, async () => {
      const now = await traces();
      if (!isDeepStrictEqual(now, last)) [last, since] = [now, performance.now()];
      return performance.now() - since > 5_000;
    });
    return last;
  }

  /** What a start may leave behind. */
  async function traces() {
    const agent = textOf(`/proc/${processOf("agent")}/mountinfo`).split("\n").length;
    const node = (await world.node.host.mounts()).length;
    const loops = globSync("/sys/devices/virtual/block/loop*/loop/backing_file").map(textOf);
    const names = globSync("/proc/[0-9]*/comm").map((file) => textOf(file).trim());
    return {
      node,
      agent,
      processes: names.sort().join(" "),
      loops: loops.filter((file) => file.includes("nodevolume")),
    };
  }
});
