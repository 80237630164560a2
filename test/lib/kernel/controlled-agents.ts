import { basename } from "node:path";
import type { KernelAgent } from "../../../hack/lib/agent-on-kernel/kernel-agent.ts";
import { until } from "../../../hack/lib/until.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { bootID } from "../../../src/host/linux/syscall/proc.ts";
import { addNodes, type CSIFleet, createCSIFleet } from "../../unit/controller/attach/csi-fleet.ts";

/**
 * So many times as long as it has worked the controller rests: in an emulated VM agents and children would wait else.
 */
const rests = 9;

/**
 * A controller on a fake API server, and agents on this kernel that stand for nodes: to it each way to a LUN is a disk
 * of its own, as to as many machines. Each agent has a fake API server of its own, and what stands there is carried
 * from one to the other.
 */
export class ControlledAgents {
  readonly fleet: CSIFleet = createCSIFleet();
  readonly #agents: ReadonlyMap<string, KernelAgent>;
  readonly #carried = new Map<string, string>();
  readonly #withinMs: number;
  #goesOn = 0;

  /** @param agents by the name of the node that each stands for, which is its label `role`, too */
  constructor(agents: ReadonlyMap<string, KernelAgent>, withinMs: number) {
    this.#agents = agents;
    this.#withinMs = withinMs;
    addNodes(this.fleet, Object.fromEntries([...agents.keys()].map((node) => [node, node])));
    for (const role of agents.keys()) this.fleet.node(role, { labels: { role }, bootID: bootID() });
  }

  /** A set of a source on one node, mounted as `lun` there. */
  set(role: string, source: object, volume: object = {}): void {
    const mounts = [{ name: "host", path: "/mnt/nodevolume/lun" }];
    const spec = { volume: { source, ...volume }, nodeSelector: { role }, mounts };
    this.fleet.csiSet(role, source, spec);
  }

  intentOf(node: string): NodeVolumeIntent | undefined {
    return this.fleet.intents().find(({ spec }) => spec.nodeName === node);
  }

  stateOf(node: string): string | undefined {
    return this.intentOf(node)?.status?.state;
  }

  target(node: string): string {
    return this.#agentOf(node).target("lun");
  }

  /** The device that is mounted as `lun`. */
  deviceOf(node: string): string | undefined {
    const agent = this.#agentOf(node);
    return agent.mounts().find(({ point }) => point === this.target(node))?.source;
  }

  async becomes(what: string, check: () => boolean): Promise<void> {
    const carry = async () => {
      const begun = performance.now();
      if (begun < this.#goesOn) return false;
      for (const node of this.#agents.keys()) this.#hear(node);
      await this.fleet.run(1_000);
      for (const node of this.#agents.keys()) this.#tell(node);
      this.#goesOn = performance.now() + rests * (performance.now() - begun);
      return check();
    };
    await until(what, this.#withinMs, carry, () =>
      this.fleet.intents().map(({ spec, status }) => [spec.grant, status]),
    );
  }

  #agentOf(node: string): KernelAgent {
    const agent = this.#agents.get(node);
    if (agent === undefined) throw new Error(`no agent stands for ${node}`);
    return agent;
  }

  /** What an agent has written goes to the controller. */
  #hear(node: string): void {
    const intent = this.intentOf(node);
    const said = intent && this.#agentOf(node).statuses.get(intent.metadata.name);
    if (intent === undefined || said === undefined) return;
    const { attach, agentState, ...before } = intent.status;
    const gone = Object.fromEntries(Object.keys(before).map((field) => [field, null]));
    const status = JSON.parse(JSON.stringify({ ...gone, ...said, attach, agentState })) as object;
    this.fleet.api.patch("nodevolumeintents", intent.metadata.name, { status }, "status");
  }

  /** What the controller has written goes to the agent, which is called `node` there, and has targets of its own. */
  #tell(node: string): void {
    const intent = this.intentOf(node);
    if (intent === undefined) return;
    const { metadata, spec, status } = intent;
    const news = JSON.stringify([metadata.generation, metadata.deletionTimestamp, spec, status.attach]);
    if (this.#carried.get(node) === news) return;
    this.#carried.set(node, news);
    const agent = this.#agentOf(node);
    const mounts = spec.mounts.map((mount) => ({ ...mount, path: agent.target(basename(mount.path)) }));
    const shown = { ...agent.statuses.get(metadata.name), ...(status.attach && { attach: status.attach }) };
    agent.want({ ...intent, spec: { ...spec, nodeName: "node", mounts }, status: shown } as NodeVolumeIntent);
  }
}
