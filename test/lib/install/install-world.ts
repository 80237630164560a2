// A cluster to which somebody who has only the repository installs the project: its images from the Dockerfile, its
// objects from config/default.
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { type ApiClient, createApiClient } from "../../../hack/lib/api-client.ts";
import { writeKubeconfig } from "../../../hack/lib/control-plane/credentials.ts";
import { type ControlPlane, startControlPlane } from "../../../hack/lib/control-plane/start.ts";
import { ImageBuilder } from "../../../hack/lib/image/build.ts";
import { nameOf, type Target } from "../../../hack/lib/image/dockerfile.ts";
import { createKubectl, type Kubectl } from "../../../hack/lib/kubectl.ts";
import { cannotMakeCgroups } from "../../../hack/lib/kubelet-node/cgroups.ts";
import {
  type KubeletNode,
  type MachineWithKubelet,
  type NodeOptions,
  nodeUsers,
  startKubeletNode,
  startSecondNode,
} from "../../../hack/lib/kubelet-node/start.ts";
import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { tailOf } from "../../../hack/lib/process.ts";
import { root } from "../../../hack/lib/root.ts";
import { locateImageTools } from "../../../hack/lib/tools/buildah.ts";
import { locateNodeTools, locateTool, locateTools } from "../../../hack/lib/tools/locate.ts";
import { prepare } from "../cluster/cluster.ts";
import { type Objects, observe } from "../cluster/objects.ts";

/** What makes pods of a Deployment and a DaemonSet, and what lets a namespace go. */
const controllers = [
  ...["deployment-controller", "replicaset-controller", "daemonset-controller", "disruption-controller"],
  ...["root-ca-certificate-publisher-controller", "namespace-controller", "garbage-collector-controller"],
  "resourcequota-controller",
];

/** Where kubelet is on every node, and config/agent/daemonset.yaml has it. */
const kubeletDir = "/var/lib/kubelet";
/** What the images say of the commit that they are of. */
export const builtFrom = { REVISION: "0a".repeat(20), CREATED: "2026-01-02T03:04:05Z" } as const;
const registry = "nodevolume.test";
const repository = ["Dockerfile", ".dockerignore", "package.json", "package-lock.json", ".npmrc", "src", "hack"];

/** How this world calls an image, with its tag. */
export function imageName(target: Target, version: string): string {
  return `${registry}/${nameOf(target)}:${version}`;
}

export class InstallWorld implements AsyncDisposable {
  readonly plane: ControlPlane;
  readonly node: KubeletNode;
  readonly images: ImageBuilder;
  /** Whoever may do anything: who installs it. */
  readonly admin: Kubectl;
  readonly objects: Objects;
  readonly directory: string;
  readonly #ofNodes: Omit<NodeOptions, "directory">;
  readonly #ends: (() => Promise<void>)[];

  private constructor(
    parts: Pick<InstallWorld, "plane" | "node" | "images" | "directory">,
    ofNodes: Omit<NodeOptions, "directory">,
    ends: (() => Promise<void>)[],
  ) {
    ({ plane: this.plane, node: this.node, images: this.images, directory: this.directory } = parts);
    this.#ofNodes = ofNodes;
    this.#ends = ends;
    const { server, ca, credentials } = this.plane;
    const kubeconfig = join(this.directory, "admin.kubeconfig");
    writeKubeconfig(kubeconfig, { server, ca, user: "bootstrap-admin", token: credentials.adminToken });
    this.admin = createKubectl(this.plane.kubectl, kubeconfig);
    const people: ApiClient = createApiClient({ server, ca, token: credentials.peopleToken });
    this.objects = observe(people);
    ends.push(async () => people.close());
  }

  /** Starts the cluster, with nothing of the project's in it; skips by name where it cannot be. */
  static async start(context: Mocha.Context): Promise<InstallWorld> {
    prepare(context);
    const options = { env: process.env, report: (line: string) => console.log(`  ${line}`) };
    const cgroups = cannotMakeCgroups();
    if (cgroups !== undefined) skipBecause(context, cgroups);
    const imageTools = await locateImageTools(options);
    if ("missing" in imageTools) skipBecause(context, imageTools.missing);
    const nodeTools = await locateNodeTools(options);
    if ("missing" in nodeTools) skipBecause(context, nodeTools.missing);
    const controllerManager = await locateTool("kube-controller-manager", options);
    const tools = await locateTools(options);

    const directory = mkdtempSync(join(tmpdir(), "nodevolume-install-"));
    const place = (name: string) => {
      mkdirSync(join(directory, name));
      return join(directory, name);
    };
    const [logs, planeDirectory, nodeDirectory] = [place("logs"), place("control-plane"), place("node")];
    const images = new ImageBuilder({ tools: imageTools, directory: place("images"), env: process.env });
    const plane = await startControlPlane({ tools, directory: planeDirectory, users: nodeUsers });
    const ends = [() => plane.stop()];
    try {
      // Process 1 of a node is the node's, as config/agent/daemonset.yaml has it: the sandbox's has other mounts.
      const ofNodes = { plane, tools: nodeTools, kubeletDir, logs, env: process.env, own: ["pid"] } as const;
      const node = await startKubeletNode({ ...ofNodes, controllerManager, controllers, directory: nodeDirectory });
      ends.push(() => node.stop());
      return new InstallWorld({ plane, node, images, directory }, ofNodes, ends);
    } catch (error) {
      for (const end of ends) await end();
      throw error;
    }
  }

  /** Builds the images of the repository as it is, but for its version, and gives them to the node. */
  async build(version: string): Promise<void> {
    for (const target of ["controller", "agent"] as const) {
      await this.buildImage(target, version);
      await this.node.importImage(await this.images.archive(imageName(target, version)));
    }
  }

  /** Starts a second node, with the images of a version that has been built. */
  async addSecondNode(version: string): Promise<MachineWithKubelet> {
    const directory = mkdtempSync(join(this.directory, "second-node-"));
    const node = await startSecondNode({ ...this.#ofNodes, directory });
    this.#ends.push(() => node.stop());
    for (const target of ["controller", "agent"] as const)
      await node.importImage(await this.images.archive(imageName(target, version)));
    return node;
  }

  /** Builds one of them, which the node does not get. */
  async buildImage(target: Target, version: string, images = this.images): Promise<void> {
    const args = { VERSION: version, ...builtFrom };
    await images.build({ context: this.#context(version), target, args }, imageName(target, version));
  }

  /** A store that has nothing of another build. */
  emptyStore(): ImageBuilder {
    const directory = mkdtempSync(join(this.directory, "images-anew-"));
    return new ImageBuilder({ tools: this.images.tools, directory, env: process.env });
  }

  #context(version: string): string {
    const context = join(this.directory, `context-${version}`);
    if (existsSync(context)) return context;
    for (const path of repository) cpSync(join(root, path), join(context, path), { recursive: true });
    const file = join(context, "src/version.ts");
    writeFileSync(file, readFileSync(file, "utf8").replace(/(?<=version = ")[^"]+/, version));
    return context;
  }

  /**
   * A kustomization of config/default with the images, and with what this one node, which has no network of pods and no
   * Services, needs beside it: the controller in the node's network, once, on loopback; for it and the agent's proxy,
   * where the API server is.
   */
  overlay(version: string): string {
    const directory = join(this.directory, `overlay-${version}`);
    mkdirSync(directory, { recursive: true });
    const { hostname, port } = new URL(this.plane.server);
    const env = [
      { name: "KUBERNETES_SERVICE_HOST", value: hostname },
      { name: "KUBERNETES_SERVICE_PORT", value: port },
    ];
    const loopback = { name: "NODEVOLUME_METRICS_ADDRESS", value: "127.0.0.1:9808" };
    const rollingUpdate = { maxSurge: 0, maxUnavailable: 1 }; // two of them cannot have the same port of the node
    const container = (name: string, env: object[]) => ({ template: { spec: { containers: [{ name, env }] } } });
    const { template } = container("controller", [...env, loopback]);
    const controller = {
      replicas: 1,
      strategy: { type: "RollingUpdate", rollingUpdate },
      template: { spec: { ...template.spec, hostNetwork: true } },
    };
    const agent = { template: { spec: { initContainers: [{ name: "api-proxy", env }] } } };
    const patch = (kind: string, name: string, spec: object) => ({
      patch: JSON.stringify({ apiVersion: "apps/v1", kind, metadata: { name, namespace: "nodevolume-system" }, spec }),
    });
    const kustomization = {
      kind: "Kustomization",
      resources: [relative(directory, join(root, "config/default"))],
      images: (["controller", "agent"] as const).map((target) => {
        const name = nameOf(target);
        return { name, newName: `${registry}/${name}`, newTag: version };
      }),
      patches: [
        patch("Deployment", "nodevolume-controller", controller),
        patch("DaemonSet", "nodevolume-agent", agent),
      ],
    };
    writeFileSync(join(directory, "kustomization.yaml"), JSON.stringify(kustomization));
    return directory;
  }

  /** Until agent and controller are those that were asked for, and Ready. */
  async rolledOut(): Promise<void> {
    for (const what of ["daemonset/nodevolume-agent", "deployment/nodevolume-controller"]) {
      const status = ["-n", "nodevolume-system", "rollout", "status", what, "--timeout=120s"];
      const { code, stdout, stderr } = await this.admin.try(status);
      if (code !== 0) throw new Error(`${what}: ${stdout}${stderr}`);
    }
  }

  /** What the cluster says of the project's pods, for people, and the last lines of each. */
  async told(): Promise<string> {
    const ask = (...args: string[]) =>
      this.admin.try(["-n", "nodevolume-system", ...args]).then(({ stdout }) => stdout);
    const logs = globSync(join(this.directory, "{node,second-node-*}/kubelet/pod-logs/nodevolume-system_*/*/*.log"));
    const tails = logs.flatMap((file) => [basename(dirname(dirname(file))), ...tailOf(file, 8)]);
    const objects = [await ask("get", "pods", "-o", "wide"), await ask("get", "events", "--sort-by=.lastTimestamp")];
    return [...objects, ...tails].join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }
}
