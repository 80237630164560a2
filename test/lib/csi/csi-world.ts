// A real control plane with CSI beside it: drivers on pretended nodes, sidecars, kube-controller-manager; each when a
// test asks for it.
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentIdentity, controllerIdentity } from "../../../hack/lib/control-plane/identities.ts";
import { startControllerManager } from "../../../hack/lib/csi/controller-manager.ts";
import { type DriverProgram, type RunningDriver, startDriver } from "../../../hack/lib/csi/driver.ts";
import { FakeKubelet } from "../../../hack/lib/csi/fake-kubelet.ts";
import { agentFlags } from "../../../hack/lib/csi/paths.ts";
import type { Sidecar } from "../../../hack/lib/csi/rights.ts";
import { startSidecar } from "../../../hack/lib/csi/sidecars.ts";
import { type CSIStorage, csiStorage } from "../../../hack/lib/csi/storage.ts";
import { type KubeletNode, startKubeletNode } from "../../../hack/lib/kubelet-node/start.ts";
import { type PretendHost, startPretendHost } from "../../../hack/lib/pretend-node/node.ts";
import { createNodeObject, type NodeRef } from "../../../hack/lib/pretend-node/object.ts";
import type { RunningProcess } from "../../../hack/lib/process.ts";
import { startAgent, startController } from "../../../hack/lib/roles.ts";
import type { CSITool } from "../../../hack/lib/tools/catalog.ts";
import { locateTool, type NodeToolPaths } from "../../../hack/lib/tools/locate.ts";
import { bundles } from "../cluster/bundles.ts";
import { startCluster, type TestCluster } from "../cluster/cluster.ts";
import { CSIObjects } from "./csi-objects.ts";

export interface CSITestNode extends NodeRef {
  readonly host: PretendHost;
  readonly kubelet: FakeKubelet;
  /** Starts a driver, registers it with the agent, and makes it known as a kubelet would. */
  startDriver(program: DriverProgram): Promise<RunningDriver>;
  /** Our agent, in a mount namespace of its own. @param flags further ones */
  startAgent(flags?: readonly string[]): Promise<RunningProcess>;
  /**
   * Makes its Node anew, which was deleted, as a kubelet does. What runs goes on; an agent needs a token of the new
   * Node: start it again.
   */
  register(): Promise<void>;
  /** What is mounted at a path, topmost first; each as a line of the host's mountinfo. */
  mountsAt(path: string): Promise<string[]>;
}

/** A node with a kubelet, which makes itself and its drivers known. */
export interface KubeletTestNode extends KubeletNode {
  startDriver(program: DriverProgram): Promise<RunningDriver>;
  /** @param startedBy RoleOptions.startedBy */
  startAgent(flags?: readonly string[], startedBy?: readonly string[]): Promise<RunningProcess>;
  mountsAt(path: string): Promise<string[]>;
}

/** Everything in it ends when it is disposed of: processes, mounts, loop devices. */
export class CSIWorld implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly storage: CSIStorage;
  readonly objects: CSIObjects;
  readonly directory: string;
  readonly logs: string;
  readonly #ends: (() => Promise<void> | void)[] = [];

  private constructor(cluster: TestCluster) {
    this.cluster = cluster;
    this.directory = mkdtempSync(join(tmpdir(), "nodevolume-csi-"));
    this.logs = join(this.directory, "logs");
    mkdirSync(this.logs);
    this.storage = csiStorage(join(this.directory, "storage"));
    this.objects = new CSIObjects(cluster.admin);
  }

  /** With a cluster of its own, or in one that is there. */
  static async start(cluster?: TestCluster): Promise<CSIWorld> {
    const world = new CSIWorld(cluster ?? (await startCluster()));
    if (cluster === undefined) world.onEnd(() => world.cluster.controlPlane.stop());
    return world;
  }

  /** Has something done when the world ends, before what was asked for earlier. */
  onEnd(action: () => Promise<void> | void): void {
    this.#ends.push(action);
  }

  async addNode(name: string): Promise<CSITestNode> {
    const { admin } = this.cluster;
    let node = await createNodeObject(admin, name);
    const host = await startPretendHost(name);
    this.onEnd(() => host.stop());
    const kubelet = new FakeKubelet(admin, node);
    const env = process.env;
    const drivers: RunningDriver[] = [];
    return {
      ...node,
      host,
      kubelet,
      mountsAt: (path) => mountsAt(host, path),
      startDriver: async (program) => {
        const driver = await startDriver(host, program, { logs: this.logs, env });
        this.onEnd(() => driver.stop());
        await kubelet.registered(driver.name, driver.outside);
        await driver.register();
        drivers.push(driver);
        return driver;
      },
      register: async () => {
        node = await createNodeObject(admin, name);
        const again = new FakeKubelet(admin, node);
        for (const driver of drivers) await again.registered(driver.name, driver.outside);
      },
      startAgent: (flags = []) => this.#startAgent(host, node, flags),
    };
  }

  /** A real one. Its world's cluster has to know nodeUsers. */
  async addKubeletNode(tools: NodeToolPaths): Promise<KubeletTestNode> {
    const { program: controllerManager, ...place } = await this.#place("kube-controller-manager");
    const env = process.env;
    const node = await startKubeletNode({ ...place, tools, controllerManager, env });
    this.onEnd(() => node.stop());
    const { host } = node;
    return {
      ...node,
      mountsAt: (path) => mountsAt(host, path),
      startDriver: async (program) => {
        const driver = await startDriver(host, program, { logs: this.logs, env });
        this.onEnd(() => driver.stop());
        await driver.register();
        return driver;
      },
      startAgent: (flags = [], startedBy = []) => this.#startAgent(host, node, flags, startedBy),
    };
  }

  async startController(name = "controller-0", flags: readonly string[] = []): Promise<RunningProcess> {
    await bundles();
    const { controlPlane } = this.cluster;
    const identity = await controllerIdentity(controlPlane, {}, join(this.directory, name));
    const logFile = join(this.logs, `${name}.log`);
    return this.#ending(
      startController(name, { server: controlPlane.server, identity, logFile, env: process.env, flags }),
    );
  }

  /** @param driver whose controller service it calls */
  async startSidecar(sidecar: Sidecar, driver: RunningDriver): Promise<RunningProcess> {
    const options = { ...(await this.#place(sidecar)), address: driver.outside };
    return this.#ending(await startSidecar(sidecar, options));
  }

  async startControllerManager(): Promise<RunningProcess> {
    return this.#ending(await startControllerManager(await this.#place("kube-controller-manager")));
  }

  /** Ends everything, also what comes after something that could not be ended. @throws AggregateError then */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (const end of [() => this.storage[Symbol.dispose](), ...this.#ends].reverse()) {
      try {
        await end();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `could not be ended: ${failures.map(String).join("; ")}`);
  }

  async #startAgent(
    host: PretendHost,
    node: NodeRef,
    flags: readonly string[],
    startedBy: readonly string[] = [],
  ): Promise<RunningProcess> {
    await bundles();
    const { controlPlane } = this.cluster;
    const identity = await agentIdentity(controlPlane, node, join(this.directory, "agents", node.name));
    const logFile = join(this.logs, `agent-${node.name}.log`);
    const all = [...agentFlags, ...flags];
    return this.#ending(
      startAgent(host, { server: controlPlane.server, identity, logFile, env: process.env, flags: all, startedBy }),
    );
  }

  /** Where a program is, which is built if it has to be, and where it has its things. */
  async #place(tool: CSITool) {
    const report = (line: string) => console.log(`  ${line}`);
    const program = await locateTool(tool, { env: process.env, report });
    return { plane: this.cluster.controlPlane, program, directory: this.directory, logs: this.logs };
  }

  #ending(process: RunningProcess): RunningProcess {
    this.onEnd(() => process.stop());
    return process;
  }
}

async function mountsAt(host: PretendHost, path: string): Promise<string[]> {
  return (await host.mounts()).filter((line) => line.split(" ")[4] === path).reverse();
}
