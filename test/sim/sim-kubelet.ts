import { podDirectory, podTargetPath } from "../../src/agent/model/pod-path.ts";
import type { PodPublish, PodVolumes } from "../../src/csi/server/ports.ts";
import type { AgentProcess } from "./agent-process.ts";
import { layout, type Machine } from "./machine.ts";
import type { People } from "./people.ts";
import type { WorldParts } from "./world-parts.ts";

/** How long a call of kubelet may take, and after which time it is made again, in milliseconds. */
const callMs = 110_000;
const retryMs = 1_000;
/** How soon kubelet sees that the agent it has called is gone, in milliseconds. */
const goneMs = 100;

interface SimPod {
  readonly request: PodPublish;
  wanted: boolean;
  /** Maybe: it was asked for, and nobody has said how that ended. */
  has: "no" | "maybe" | "yes";
  busy: boolean;
}

/**
 * As far as volumes go: asks the agent for those of its pods until they are there, and gives them back when the pods
 * end.
 */
export class SimKubelet {
  readonly #machine: Machine;
  readonly #agent: AgentProcess;
  readonly #people: People;
  readonly #parts: WorldParts;
  readonly #pods = new Map<string, SimPod>();

  constructor(machine: Machine, agent: AgentProcess, people: People, parts: WorldParts) {
    this.#machine = machine;
    this.#agent = agent;
    this.#people = people;
    this.#parts = parts;
  }

  target(uid: string): string {
    return podTargetPath(layout.kubeletDir, { uid, volume: "data" });
  }

  /** A pod starts; its volume is the one of the set `set`, whose intent has to name it. */
  run(uid: string, more: Partial<PodPublish> = {}): void {
    const target = { podUID: uid, volume: "data", path: this.target(uid) };
    const names = { namespace: "team", podName: `pod-${uid}`, wants: { set: "set" } };
    const asks = { readOnly: false, containersRead: true };
    const pod: SimPod = { request: { ...target, ...names, ...asks, ...more }, wanted: true, has: "no", busy: false };
    this.#pods.set(uid, pod);
    this.#due(uid, pod);
  }

  /** A pod ends. */
  end(uid: string): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    pod.wanted = false;
    this.#due(uid, pod);
  }

  /** Its node has started again: no pod has anything, and those that are not to end start again. */
  booted(): void {
    this.#machine.podsHeld.clear();
    for (const [uid, pod] of this.#pods) {
      pod.has = "no";
      void this.#sync(uid, pod);
    }
  }

  /** Pods that are not as they are to be. */
  unmet(): string[] {
    const { kernel } = this.#machine;
    return [...this.#pods].flatMap(([uid, { wanted, has, request }]) => {
      if (!wanted || has !== "yes") return [`pod ${uid} ${wanted ? "waits for its volume" : "has not ended"}`];
      const layers = kernel.table(kernel.host).filter(({ point }) => point === request.path).length;
      return layers === 1 ? [] : [`pod ${uid} has ${layers} mounts`];
    });
  }

  /** As an event of its own: what goes on in a story's own turn is in no order with what the scheduler does. */
  #due(uid: string, pod: SimPod): void {
    this.#parts.scheduler.after(0, () => void this.#sync(uid, pod));
  }

  async #sync(uid: string, pod: SimPod): Promise<void> {
    if (pod.busy) return;
    pod.busy = true;
    while (pod.wanted ? pod.has !== "yes" : pod.has !== "no") {
      const { boots } = this.#machine;
      const done = pod.wanted ? await this.#publish(pod) : await this.#unpublish(pod);
      if (done && boots === this.#machine.boots) this.#ended(pod);
      else await new Promise<void>((resolve) => void this.#parts.scheduler.after(retryMs, resolve));
    }
    pod.busy = false;
    if (pod.wanted) return;
    this.#people.remove(podDirectory(layout.kubeletDir, uid));
    this.#pods.delete(uid);
  }

  async #publish(pod: SimPod): Promise<boolean> {
    const { request } = pod;
    pod.has = "maybe";
    this.#people.makeDirectory(request.path.slice(0, request.path.lastIndexOf("/")));
    const done = await this.#call((volumes, signal) => volumes.publish(request, signal));
    if (done) this.#check(request.path, 1);
    return done;
  }

  async #unpublish({ request }: SimPod): Promise<boolean> {
    this.#machine.podsHeld.delete(request.path);
    const done = await this.#call((volumes, signal) => volumes.unpublish(request, signal));
    if (done) this.#check(request.path, 0);
    return done;
  }

  /** Another decision may have come while this was under way. */
  #ended(pod: SimPod): void {
    const there = this.#layers(pod.request.path) > 0;
    pod.has = there ? "yes" : "no";
    if (there && pod.wanted) this.#machine.podsHeld.add(pod.request.path);
  }

  #check(path: string, layers: 0 | 1): void {
    const found = this.#layers(path);
    if (found !== layers) this.#parts.invariants.report(`kubelet was told OK, and ${path} has ${found} mounts`);
  }

  #layers(path: string): number {
    const { kernel } = this.#machine;
    return kernel.table(kernel.host).filter(({ point }) => point === path).length;
  }

  /** @returns whether the answer was OK */
  #call(call: (volumes: PodVolumes, signal: AbortSignal) => Promise<void>): Promise<boolean> {
    const { scheduler } = this.#parts;
    const volumes = this.#agent.podVolumes;
    if (volumes === undefined) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const controller = new AbortController();
    let over = false;
    const end = (done: boolean) => {
      over = true;
      resolve(done);
    };
    const deadline = scheduler.now + callMs;
    const watch = () => {
      if (over) return;
      if (this.#agent.podVolumes !== volumes) return end(false);
      if (scheduler.now >= deadline) controller.abort();
      scheduler.after(goneMs, watch);
    };
    watch();
    call(volumes, controller.signal).then(
      () => end(true),
      () => end(false),
    );
    return promise;
  }
}
