import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { type IntentEntry, understand } from "../../../../src/agent/intents.ts";
import { OpenPods } from "../../../../src/agent/pods/open-pods.ts";
import { AgentPodVolumes } from "../../../../src/agent/pods/pod-volumes.ts";
import { Touched } from "../../../../src/agent/touched.ts";
import type { IntentPod } from "../../../../src/api/types.gen.ts";
import type { PodPublish, PodVolumeError } from "../../../../src/csi/server/ports.ts";
import { MountTable } from "../../../../src/host/mount-table.ts";
import { volume } from "../../../lib/plan-world.ts";
import { kubeletDir, pathOf, pod, withPodsOf } from "./pod-world.ts";

const path = pathOf("a");
const target = { podUID: "a", volume: "data", path };

describe("what kubelet asks the agent for", () => {
  let intent: IntentEntry | undefined;
  /** Each time that the planner is told of the target. */
  let changes: string[];
  let volumes: AgentPodVolumes;
  beforeEach(() => {
    intent = undefined;
    changes = [];
    const open = new OpenPods();
    volumes = new AgentPodVolumes({
      kubeletDir,
      open,
      world: {
        ofPod: () => new Set(intent?.raw.spec.pods?.some(({ uid }) => uid === "a") ? [volume] : []),
        podPaths: [],
        podChanged: () => void changes.push(open.isOpen(path) ? "open" : "closing"),
      },
      journal: { records: new Map(), touched: new Touched() },
      intent: () => intent,
      isBusy: () => false,
      table: async () => new MountTable([]),
      unmountLost: async () => {},
      removePoint: async () => {},
    });
  });
  const planned = () => volumes.told({ synced: true, volumes: new Map(), changed: new Map(), operations: [] });
  const names = (more: Partial<IntentPod> = {}) => {
    intent = understand(withPodsOf([], { pods: [pod("a", more)], source: { hostPath: { path: "/data" } } }));
    if (intent === undefined) throw new Error("no intent");
    intent.raw.metadata.labels = { "nodevolume.dev/set": "set" };
  };
  const publish = (signal = new AbortController().signal) => {
    const of = { namespace: "team", podName: "pod-a", wants: { set: "set" }, readOnly: false };
    const request: PodPublish = { ...target, ...of };
    return volumes.publish(request, signal).then(
      () => "published",
      ({ kind, reason }: PodVolumeError) => `${kind} ${reason}`,
    );
  };

  it("is not begun where it is refused", async () => {
    names({ readOnly: true });
    expect(await publish()).to.equal("refused PodMismatch");
    expect(changes).to.deep.equal([]);
  });

  it("is not begun where nobody has named the pod yet, nor when it is refused then", async () => {
    const answer = publish();
    await setImmediate();
    names({ readOnly: true });
    planned();
    expect(await answer).to.equal("refused PodMismatch");
    expect(changes).to.deep.equal([]);
  });

  it("is begun once an intent names the pod, and undone when the caller ends", async () => {
    const caller = new AbortController();
    const answer = publish(caller.signal);
    await setImmediate();
    expect(changes).to.deep.equal([]);
    names();
    planned();
    expect(changes).to.deep.equal(["open"]);
    caller.abort();
    expect(await answer).to.equal("waiting Progressing");
    expect(changes).to.deep.equal(["open", "closing"]);
  });

  it("ends when kubelet gives back what was not begun", async () => {
    const answer = publish();
    await setImmediate();
    const given = volumes.unpublish(target, new AbortController().signal);
    expect(await answer).to.equal("waiting Unmounting");
    await given;
  });
});
