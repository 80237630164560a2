import { chownSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { agentIdentity } from "../../hack/lib/control-plane/identities.ts";
import { imageEnvironment, nodeOptions } from "../../hack/lib/image.ts";
import { layout, type PretendHost, startPretendHost } from "../../hack/lib/pretend-node/node.ts";
import { createNodeObject } from "../../hack/lib/pretend-node/object.ts";
import type { RunningProcess } from "../../hack/lib/process.ts";
import { startApiProxy } from "../../hack/lib/roles.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { type AgentPod, agentPodIn } from "../lib/cluster/agent-pod.ts";
import { intentOn } from "../lib/cluster/policy-world.ts";
import { testWorld, type World } from "../lib/cluster/world.ts";

const name = "observe-only";
const path = `${layout.prefix}/observed`;
const volume = { source: { hostPath: { path: "/mnt/source", type: "Directory" } } };
const selected = { nodeSelector: { "kubernetes.io/hostname": name } };
const spec = { ...selected, mode: "Observe", volume, mounts: [{ name: "host", path }] };
/** As config/agent/daemonset.yaml has it. */
const proxyUser = 59818;
/** What the kernel calls the two capabilities that the overlay gives. */
const given = ["SYS_PTRACE", "DAC_READ_SEARCH"];

/**
 * Its policies on the lane's cluster, and on one more pretended node an agent with the rights that its container has.
 */
describe("config/overlays/observe-only, applied", () => {
  let world: World;
  let host: PretendHost;
  let agent: RunningProcess;
  let proxy: ReturnType<typeof startApiProxy>;
  let policies = "";
  let untouched: { readonly mounts: string[]; readonly files: string };

  const create = (kind: string, of: object, more: object = {}) => {
    const object = { apiVersion: "nodevolume.dev/v1alpha1", kind, metadata: { name: "tried" }, spec: of, ...more };
    const args = ["create", "--dry-run=server", "-f", "-"];
    return world.cluster.adminKubectl.try(args, JSON.stringify(object));
  };
  const enforced = async () => (await create("NodeVolumeSet", { ...spec, mode: "Manage" })).code !== 0;
  const nodeNow = async () => ({
    mounts: await host.mounts(),
    files: await host.run("find", "/mnt", layout.kubeletDir, "-printf", "%p %i %m %U:%G %T@\n"),
  });

  before(async function () {
    world = await testWorld(this);
    const { adminKubectl, admin, controlPlane, directory } = world.cluster;
    const rendered = await adminKubectl.run(["kustomize", join(root, "config/overlays/observe-only")]);
    const documents = (loadAll(rendered) as { metadata: { name: string } }[]).filter(({ metadata }) =>
      metadata.name.startsWith("nodevolume-observe-only"),
    );
    expect(documents).to.have.length(4);
    policies = JSON.stringify({ apiVersion: "v1", kind: "List", items: documents });
    await adminKubectl.run(["apply", "--server-side", "-f", "-"], policies);
    await until("the policies to be in force", 30_000, enforced);

    const node = await createNodeObject(admin, name);
    host = await startPretendHost(name);
    await host.run("mkdir", "/mnt/source");
    untouched = await nodeNow();
    const identity = await agentIdentity(controlPlane, node, join(directory, "agents", name));
    proxy = startApiProxy(name, {
      ...{ server: controlPlane.server, identity, env: process.env },
      logFile: join(directory, "logs", `${name}-api-proxy.log`),
    });
    const socket = proxy.apiServer.slice("unix://".length);
    await until("the proxy to listen", 30_000, () => existsSync(socket));
    // It has a user of its own in the pod, and cannot have one here, where only root reads the repository.
    for (const place of [dirname(socket), socket]) chownSync(place, proxyUser, proxyUser);
    const state = join(directory, "observe-only-state");
    mkdirSync(state);
    const flags = [
      ...["--node-name", name, "--host-root", layout.hostRoot, "--host-pid", String(host.pid)],
      ...["--state-dir", state, "--csi-dir", `${state}/csi`, "--kubelet-dir", layout.kubeletDir],
      ...["--api-server", proxy.apiServer],
      ...["--allowed-prefix", layout.prefix, "--metrics-address", "127.0.0.1:0"],
    ];
    const pod = agentPodIn(rendered);
    const main = [process.execPath, ...nodeOptions(), join(root, "dist/main.cjs"), "agent", ...flags];
    const logFile = join(directory, "logs", `${name}.log`);
    const env = { ...imageEnvironment(process.env), ...switchesOf(pod) };
    agent = host.startAgent([...rightsOf(pod), ...main], logFile, env);
  });

  after(async () => {
    if (world === undefined) return;
    const { adminKubectl } = world.cluster;
    await world.remove(name);
    await agent?.stop();
    await proxy?.stop();
    await host?.stop();
    await adminKubectl.run(["delete", "--ignore-not-found", "node/observe-only", "nodevolumestate/observe-only"]);
    await adminKubectl.run(["delete", "-f", "-"], policies);
    await until("the policies to be gone", 30_000, async () => !(await enforced()));
  });

  it("a set that would mount is refused, and the message says what to write and how to go on", async () => {
    const { code, stderr } = await create("NodeVolumeSet", { ...spec, mode: undefined });
    expect(code).not.to.equal(0);
    expect(stderr)
      .to.include("this cluster only observes")
      .and.include("write mode: Observe")
      .and.include("config/default");
  });

  it("a taint on nodes is refused, and a condition is not", async () => {
    const tainted = await create("NodeVolumeSet", { ...spec, nodeReadiness: "Taint" });
    expect(tainted.stderr).to.include("write nodeReadiness: Condition");
    expect((await create("NodeVolumeSet", { ...spec, nodeReadiness: "Condition" })).code).to.equal(0);
  });

  it("an intent that would mount is refused the controller, too, as it would write one for a pod's claim", async () => {
    const controller = world.cluster.as(await world.cluster.token("nodevolume-controller"));
    const body = intentOn({ name: "n", uid: "u" }, "tried");
    const intents = "/apis/nodevolume.dev/v1alpha1/nodevolumeintents?dryRun=All";
    const { status, body: answer } = await controller.call("POST", intents, { body });
    expect([status, String(answer["message"])].join(" "))
      .to.include("403")
      .and.include("this cluster only observes");
    const { grant: _, ...ungranted } = body.spec;
    const observing = { ...body, spec: { ...ungranted, mode: "Observe" } };
    expect((await controller.call("POST", intents, { body: observing })).status).to.equal(201);
    controller.close();
  });

  it("a pod that names our driver is refused, and another one is not", async () => {
    const containers = [{ name: "c", image: "none" }];
    const inOurs = { apiVersion: "v1", metadata: { name: "tried", namespace: "nodevolume-system" } };
    const pod = (volumes: object[]) =>
      create("Pod", { containers, volumes, serviceAccountName: "nodevolume-agent" }, inOurs);
    const csi = (driver: string) => [{ name: "v", csi: { driver } }];
    expect((await pod(csi("csi.nodevolume.dev"))).stderr).to.include("csi.nodevolume.dev is not served");
    expect((await pod(csi("other.example.com"))).code).to.equal(0);
  });

  it("an observing set is shown, by an agent that could not mount", async () => {
    await world.apply(name, spec);
    await world.objects.until("the plan to be told", 20_000, () => {
      const status = world.objects.intentOn(name, name)?.status;
      return status?.state === "Observed" && ready(status)?.reason === "WouldChange";
    });
    const status = readFileSync(`/proc/${agent.pid}/status`, "utf8");
    expect(/^CapEff:\s*0*(\S+)$/m.exec(status)?.[1]).to.equal("80004");
  });

  it("what somebody mounts there is seen at once", async () => {
    await host.run("mkdir", path);
    await host.run("mount", "--bind", "/mnt/source", path);
    await host.run("mount", "-o", "remount,bind,nosuid,nodev", path);
    await world.objects.until("it to be as the set says", 20_000, () => {
      return ready(world.objects.intentOn(name, name)?.status)?.status === "True";
    });
    await host.run("umount", path);
    await host.run("rmdir", path);
    await world.objects.until("it to be gone again", 20_000, () => {
      return ready(world.objects.intentOn(name, name)?.status)?.reason === "WouldChange";
    });
  });

  it("nothing of the node has changed: no mount, no file, no owner, no mode", async () => {
    const now = await nodeNow();
    expect(now.mounts).to.deep.equal(untouched.mounts);
    // But for the directory in which we ourselves have made one, and removed it.
    const others = (files: string) => files.split("\n").filter((line) => !line.startsWith(`${layout.prefix} `));
    expect(others(now.files)).to.deep.equal(others(untouched.files));
  });
});

function ready(status: { conditions?: readonly { type: string; status: string; reason: string }[] } | undefined) {
  return status?.conditions?.find(({ type }) => type === "Ready");
}

/** A command that gives a program the group and the capabilities of the container, and no others. */
function rightsOf({ containers: [{ securityContext }] }: AgentPod): string[] {
  expect(securityContext.capabilities?.add).to.deep.equal(given);
  const set = given.map((capability) => `+${capability.toLowerCase()}`).join(",");
  const group = ["--regid", `${securityContext.runAsGroup ?? 0}`, "--clear-groups"];
  return ["setpriv", ...group, `--bounding-set=-all,${set}`, "--no-new-privs", "--"];
}

/** The variables of the container that are no paths: where things are differs on a pretended node. */
function switchesOf({ containers: [{ env }] }: AgentPod): { [name: string]: string } {
  const named = env.filter(
    ({ name: variable, value }) => variable.startsWith("NODEVOLUME_") && !/[/$]/.test(value ?? "/"),
  );
  return Object.fromEntries(named.map(({ name: variable, value }) => [variable, value ?? ""]));
}
