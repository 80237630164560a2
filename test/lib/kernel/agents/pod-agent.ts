import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type IntentInput, intent } from "../../../../hack/lib/agent-on-kernel/intent.ts";
import { KernelAgent } from "../../../../hack/lib/agent-on-kernel/kernel-agent.ts";
import { buildPrograms, type Programs } from "../../../../hack/lib/agent-on-kernel/programs.ts";
import type { NodeVolumeIntentStatus } from "../../../../src/api/types.gen.ts";
import type { PodPublish } from "../../../../src/csi/server/ports.ts";
import { need } from "../../asserts/requirements.ts";

/** The intent of `want`. */
export const name = "node.volume-1";

/**
 * Gives each test of a suite an agent on the real kernel, with a volume in `src/data`, and what kubelet and the
 * controller would do for its pods.
 */
export function withPodAgent(use: (agent: KernelAgent) => void) {
  let programs: Programs;
  let agent: KernelAgent;
  before(async function () {
    need(this, "root");
    programs = await buildPrograms();
  });
  beforeEach(async () => {
    agent = new KernelAgent(programs);
    mkdirSync(`${agent.path}/src/data/sub`, { recursive: true });
    writeFileSync(`${agent.path}/src/data/file`, "content");
    await agent.start();
    use(agent);
  });
  afterEach(() => agent[Symbol.asyncDispose]());

  const directoryOf = (uid: string) => `${agent.path}/kubelet/pods/${uid}`;
  const volumeOf = (uid: string) => `${directoryOf(uid)}/volumes/kubernetes.io~csi/data`;
  const targetOf = (uid: string) => ({ podUID: uid, volume: "data", path: `${volumeOf(uid)}/mount` });
  /** What kubelet asks for a pod, with the directory that it makes for it. */
  const call = (uid: string, more: Partial<PodPublish> = {}): PodPublish => {
    mkdirSync(volumeOf(uid), { recursive: true });
    const wants = { set: "set" };
    const asks = { wants, readOnly: false, containersRead: false };
    return { ...targetOf(uid), namespace: "team", podName: `pod-${uid}`, ...asks, ...more };
  };
  type More = Partial<Omit<IntentInput, "pods">> & { pod?: object };
  let generation = 1;
  const wanted = (uids: readonly string[], { pod = {}, ...more }: More = {}) => {
    const requester = { namespace: "team", volume: "data", readOnly: false };
    const pods = uids.map((uid) => ({ ...requester, uid, name: `pod-${uid}`, ...pod }));
    const source = { hostPath: { path: `${agent.path}/src/data` } };
    const made = intent({ source, mounts: [], ...more, generation: ++generation, pods });
    return { ...made, metadata: { ...made.metadata, labels: { "nodevolume.dev/set": "set" } } };
  };
  const want = (uids: readonly string[], more: More = {}) => agent.want(wanted(uids, more));
  const shows = (uid: string) => readFileSync(`${targetOf(uid).path}/file`, "utf8");
  const layers = (uid: string) => agent.mounts().filter(({ point }) => point === targetOf(uid).path).length;
  const states = ({ pods = [] }: NodeVolumeIntentStatus) => pods.map(({ uid, state }) => `${uid} ${state}`);
  const inStates = (...expected: string[]) =>
    agent.status(name, expected.join(), (status) => states(status).join() === expected.join());
  /** Mounted by what was wanted last, and not by what an agent before has said. */
  const mountedAnew = () =>
    agent.status(name, "Mounted as it is wanted now", ({ state, observedGeneration }) => {
      return state === "Mounted" && observedGeneration === generation;
    });
  return { directoryOf, volumeOf, targetOf, call, want, shows, layers, states, inStates, mountedAnew };
}
