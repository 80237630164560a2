import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "chai";
import { Registry } from "prom-client";
import { noDrivers } from "../../../hack/lib/no-drivers.ts";
import { silent } from "../../../hack/lib/silent-log.ts";
import type { ReapEvent } from "../../../src/agent/orphans/orphan-events.ts";
import { orphansOfKubelet } from "../../../src/agent/orphans/start-orphan-cleanup.ts";
import type { KubeObject } from "../../../src/api/meta.ts";
import { resource } from "../../../src/api/names.ts";
import type { Orphan } from "../../../src/api/types.gen.ts";
import type { CSIDrivers } from "../../../src/csi/ports.ts";
import { LinuxTraces } from "../../../src/host/linux/evidence/linux-traces.ts";
import type { KubeClient } from "../../../src/kube/client/client.ts";
import { realSystem } from "../../../src/system.ts";
import { RealNode } from "./real-node.ts";

export const [live, dead] = ["9b1c0ad4-1111-4222-8333-444455556666", "9b1c0ad4-1111-4222-8333-777788889999"];
export const graceMs = 600_000;
const driver = "d.example";

/**
 * A real node with what kubelet has left, the agent's watch and reaper of that, and what API server, cgroups and a
 * driver that unstages say.
 */
export class ReapNode implements AsyncDisposable {
  readonly node = new RealNode();
  readonly events: ReapEvent[] = [];
  readonly unstaged: string[] = [];
  pods: KubeObject[] = [podObject(live, "Running")];
  cgroups = new Set([live]);
  now = 1_000_000;
  /** Run when the API server is asked for the pods, with how often it was. */
  onList: (count: number) => unknown = () => {};
  #lists = 0;
  #orphans: ReturnType<typeof orphansOfKubelet> | undefined;

  get kubeletDir(): string {
    return this.node.pods.kubeletDir;
  }

  get mount(): string {
    return `${this.kubeletDir}/pods/${dead}/volumes/kubernetes.io~csi/pv-1/mount`;
  }

  get globalmount(): string {
    return `${this.kubeletDir}/plugins/kubernetes.io/csi/${driver}/${hash("sha256", "vol-1", "hex")}/globalmount`;
  }

  tmpfs(path: string): void {
    mkdirSync(path, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "vol-1", path]);
  }

  stage(): void {
    this.tmpfs(this.globalmount);
    const written = JSON.stringify({ driverName: driver, volumeHandle: "vol-1" });
    writeFileSync(`${dirname(this.globalmount)}/vol_data.json`, written);
  }

  async orphans() {
    const traces = Object.assign(new LinuxTraces("/"), { pods: () => Promise.resolve(this.cgroups) });
    const { kubeletDir, node } = this;
    const settings = { allowedPrefixes: [], stateDir: node.stateDir, hostRoot: "/", csiDir: "/csi", kubeletDir };
    const clock = { now: () => this.now, monotonic: () => this.now };
    this.#orphans ??= orphansOfKubelet({
      ...{ system: { ...realSystem(silent), clock }, host: { ...node.host, traces }, settings, graceMs },
      ...{ client: this.#client(), drivers: this.#drivers(), journal: await node.journal(), nodeName: "n" },
      ...{ registry: new Registry(), event: (event: ReapEvent) => this.events.push(event) },
    });
    return this.#orphans;
  }

  /** Lets the grace period pass, kubelet alive, and waits for what is done then. */
  async pass(ms = graceMs + 300_000): Promise<readonly Orphan[]> {
    const orphans = await this.orphans();
    let told: readonly Orphan[] = [];
    for (const end = this.now + ms; this.now < end; this.now += 20_000) {
      const plan = await this.node.plan();
      orphans.note(plan);
      told = (await orphans.leftovers(plan)).orphans;
      await orphans.idle();
    }
    return told;
  }

  #client(): Pick<KubeClient, "get" | "list"> {
    const get = async () => ({ metadata: { name: "n" }, spec: { renewTime: `${this.now}` } });
    const list = async (what: unknown) => {
      expect(what).to.equal(resource.pods);
      this.#lists += 1;
      this.onList(this.#lists);
      return { items: this.pods, resourceVersion: "1" };
    };
    return { get, list } as unknown as Pick<KubeClient, "get" | "list">;
  }

  #drivers(): CSIDrivers {
    const node = {
      capabilities: async () => ({ stageUnstage: true }),
      unstage: async ({ volumeID, stagingPath }: { volumeID: string; stagingPath: string }) => {
        this.unstaged.push(volumeID);
        execFileSync("umount", [stagingPath]);
      },
    };
    const one = { name: driver, endpoint: "", node } as unknown as ReturnType<CSIDrivers["driver"]>;
    return { ...noDrivers, driver: (name) => (name === driver ? one : undefined) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.node[Symbol.asyncDispose]();
  }
}

export function podObject(uid: string, phase: string): KubeObject {
  const metadata = { name: `pod-${uid.slice(-4)}`, namespace: "team", uid };
  return { metadata, status: { phase } } as KubeObject;
}
