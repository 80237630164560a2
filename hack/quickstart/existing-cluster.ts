import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { type ApiClient, createApiClient } from "../lib/api-client.ts";
import { buildBundles } from "../lib/bundle.ts";
import { agentIdentity, controllerIdentity } from "../lib/control-plane/identities.ts";
import { installed, untilEnforced, untilServed } from "../lib/control-plane/install.ts";
import { createKubectl, type Kubectl } from "../lib/kubectl.ts";
import { type PretendHost, startPretendHost } from "../lib/pretend-node/node.ts";
import type { NodeRef } from "../lib/pretend-node/object.ts";
import { type RunningProcess, StepError, startProcess } from "../lib/process.ts";
import { startAgent, startController } from "../lib/roles.ts";
import { root } from "../lib/root.ts";
import { type Demo, failingFolder, sampleFolder } from "./demo.ts";
import { checkCluster, checkNoAgent, liveHolder } from "./existing-checks.ts";
import { removeMade } from "./existing-removal.ts";
import {
  type Inventory,
  keyOf,
  type Manifest,
  madeByQuickstart,
  onlyOn,
  takeInventory,
  withLabel,
} from "./inventory.ts";
import { type KeptProcess, keepProcess } from "./kept-process.ts";
import type { Screen } from "./screen.ts";

export interface ExistingOptions {
  readonly kubectl: string;
  readonly kubeconfig: string;
  readonly node: string;
  readonly directory: string;
  readonly screen: Screen;
  readonly env: NodeJS.ProcessEnv;
}

/** Of our own controller, by which its Lease is told from that of a controller which the cluster has. */
const ourController = "nodevolume-controller-quickstart";

/** Controller and agent on a cluster that exists: makes what is missing there, and remembers what that was. */
export async function startOnExistingCluster(options: ExistingOptions): Promise<Demo> {
  const { directory, screen } = options;
  mkdirSync(join(directory, "logs"), { recursive: true, mode: 0o700 });
  const { kubectl, server, ca } = await flatKubeconfig(options);
  const { client, proxy } = await startProxy(kubectl, directory);
  const access = { admin: client, server, ca };
  screen.step(`looking at ${server}, before anything is made`);
  const node = await checkCluster(client, options.node);
  const ours = async (folder: string) =>
    (await render(kubectl, [join(root, folder)])).map((object) => withLabel(onlyOn(node.name, object)));
  const [sample, failing] = [await ours(sampleFolder), await ours(failingFolder)];
  await checkSample(kubectl, [...sample, ...failing]);
  const { missing, foreign, left } = await inventory(kubectl);
  screen.note(
    `${foreign.length} objects are there and stay, ${left.length} are left of an earlier run, ${missing.length} are missing`,
  );
  // What an earlier run of ours left has a Lease that nobody renews any more, but that has not yet run out.
  if (left.length === 0) await checkNoAgent(client, node.name);
  const made = [...left, ...missing];
  const processes: RunningProcess[] = [];
  const hosts: PretendHost[] = [];
  const agents: KeptProcess[] = [];
  const remove = async () => {
    screen.step("removing what was made in the cluster");
    try {
      await removeMade({ kubectl, client, node: node.name, made, sample: [...sample, ...failing], screen });
    } finally {
      for (const process of processes.toReversed()) await process.stop();
      for (const host of hosts) await host.stop();
      client.close();
      await proxy.stop();
    }
  };
  try {
    screen.step("bundling controller and agent; making what is missing");
    await buildBundles();
    await make(kubectl, client, missing);
    await untilEnforced(access);
    await startRoles(options, node, access, { processes, hosts, agents });
  } catch (error) {
    await remove();
    throw error;
  }
  const list = (items: readonly Manifest[]) => JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const manifests = { sample: list(sample), failing: list(failing) };
  return { kubectl, client, hosts, agents, processes: [...processes, proxy], ...manifests, remove };
}

/** What config/ would install, against what is there. */
async function inventory(kubectl: Kubectl): Promise<Inventory> {
  const wanted = await render(
    kubectl,
    installed.map((part) => join(root, "config", part)),
  );
  return takeInventory(wanted, await find(kubectl, wanted));
}

async function startRoles(
  { directory, screen, env }: ExistingOptions,
  node: NodeRef,
  access: { admin: ApiClient; server: string; ca: string },
  { processes, hosts, agents }: { processes: RunningProcess[]; hosts: PretendHost[]; agents: KeptProcess[] },
): Promise<void> {
  screen.step("starting the controller, and an agent in a mount namespace of its own");
  const { server } = access;
  const leader = await liveHolder(access.admin, "nodevolume-controller");
  if (leader !== undefined && !leader.startsWith(ourController))
    screen.note(`the cluster has a controller, ${leader}: using that one`);
  else {
    const identity = await controllerIdentity(access, { [madeByQuickstart]: "true" }, join(directory, "controller"));
    const ofController = { server, identity, logFile: join(directory, "logs/controller.log"), env };
    processes.push(keepProcess(() => startController(ourController, ofController)));
  }
  const host = await startPretendHost(node.name);
  hosts.push(host);
  const identity = await agentIdentity(access, node, join(directory, "agents", node.name));
  const logFile = join(directory, `logs/agent-${node.name}.log`);
  const agent = keepProcess(() => startAgent(host, { server, identity, logFile, env }));
  agents.push(agent);
  processes.push(agent);
  screen.note(processes.map(({ name, pid }) => `${name} ${pid}`).join(", "));
}

/** A kubeconfig with everything inside, on the sandbox's tmpfs, and what it says of the cluster. */
async function flatKubeconfig(options: ExistingOptions) {
  if (!existsSync(options.kubeconfig)) {
    const remedy = "name the kubeconfig of your cluster, often ~/.kube/config";
    throw new StepError(`there is no file ${options.kubeconfig}`, { details: [], remedy });
  }
  const given = createKubectl(options.kubectl, options.kubeconfig);
  const text = await given.run(["config", "view", "--raw", "--minify", "--flatten", "-o", "json"]).catch((error) => {
    const remedy = `kubectl --kubeconfig ${options.kubeconfig} config get-contexts; then config use-context NAME`;
    const details = error instanceof StepError ? error.details : [String(error)];
    throw new StepError(`${options.kubeconfig} does not say which cluster`, { details, remedy });
  });
  const cluster = (JSON.parse(text) as { clusters: { cluster: { [field: string]: string | undefined } }[] }).clusters[0]
    ?.cluster;
  const server = cluster?.["server"];
  const authority = cluster?.["certificate-authority-data"];
  if (server === undefined || authority === undefined) {
    throw new StepError(`${options.kubeconfig} names no certificate authority for the cluster`, {
      details: [],
      remedy:
        "controller and agent verify TLS: use a kubeconfig with certificate-authority or certificate-authority-data",
    });
  }
  const path = join(options.directory, "kubeconfig");
  writeFileSync(path, text, { mode: 0o600 });
  return { kubectl: createKubectl(options.kubectl, path), server, ca: Buffer.from(authority, "base64").toString() };
}

/** Whatever way of authentication the kubeconfig uses, kubectl knows it: our own requests go through it. */
async function startProxy(kubectl: Kubectl, directory: string): Promise<{ client: ApiClient; proxy: RunningProcess }> {
  const socketPath = join(directory, "proxy.sock");
  const proxy = startProcess({
    name: "kubectl proxy",
    command: kubectl.program,
    args: ["--kubeconfig", kubectl.kubeconfig, "proxy", `--unix-socket=${socketPath}`],
    logFile: join(directory, "logs/proxy.log"),
  });
  const client = createApiClient({ socketPath });
  const answers = async () =>
    existsSync(socketPath) && (await client.call("GET", "/version").catch(() => undefined)) !== undefined;
  const deadline = performance.now() + 15_000;
  while (!(await answers())) {
    if (proxy.ending() === undefined && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 50));
    else {
      await proxy.stop();
      throw new StepError("the cluster cannot be reached through kubectl proxy", {
        logFile: proxy.logFile,
        remedy: "try: kubectl --kubeconfig FILE version",
      });
    }
  }
  return { client, proxy };
}

async function render(kubectl: Kubectl, folders: readonly string[]): Promise<Manifest[]> {
  const rendered: Manifest[] = [];
  for (const folder of folders) rendered.push(...(loadAll(await kubectl.run(["kustomize", folder])) as Manifest[]));
  return rendered;
}

/** Those of the objects that are there, as they are there. */
async function find(kubectl: Kubectl, objects: readonly Manifest[]): Promise<Manifest[]> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  const { code, stdout, stderr } = await kubectl.try(["get", "-f", "-", "--ignore-not-found", "-o", "json"], input);
  // Kinds that the cluster does not know cannot be there.
  if (code !== 0 && !/no matches for kind|the server doesn't have a resource type/.test(stderr)) {
    throw new StepError("the cluster's objects cannot be read", {
      details: stderr.trim().split("\n"),
      remedy: "see above",
    });
  }
  if (stdout.trim() === "") return [];
  const found = JSON.parse(stdout) as Manifest & { items?: Manifest[] };
  return found.items ?? [found];
}

async function checkSample(kubectl: Kubectl, sample: readonly Manifest[]): Promise<void> {
  const { foreign } = takeInventory(sample, await find(kubectl, sample));
  if (foreign.length === 0) return;
  throw new StepError("the cluster has objects of its own with the names of the sample", {
    details: foreign.map(keyOf),
    remedy: "rename or remove them; nothing was changed",
  });
}

async function make(kubectl: Kubectl, client: ApiClient, missing: readonly Manifest[]): Promise<void> {
  // Namespaces and kinds first: what follows lives in them.
  const first = missing.filter(({ kind }) => kind === "Namespace" || kind === "CustomResourceDefinition");
  for (const items of [first, missing.filter((object) => !first.includes(object))]) {
    if (items.length > 0)
      await kubectl.run(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    await untilServed(client);
  }
}
