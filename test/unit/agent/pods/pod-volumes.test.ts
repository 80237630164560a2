import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { type IntentEntry, understand } from "../../../../src/agent/desired/intents.ts";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import { KeptTokens } from "../../../../src/agent/pods/kept-tokens.ts";
import { OpenPods } from "../../../../src/agent/pods/open-pods.ts";
import { AgentPodVolumes } from "../../../../src/agent/pods/pod-volumes.ts";
import type { IntentPod, VolumeSource } from "../../../../src/api/types.gen.ts";
import { PodTokens } from "../../../../src/csi/client/pod-tokens.ts";
import type { PodPublish, PodVolumeError } from "../../../../src/csi/server/ports.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import { volume } from "../../../lib/builders/plan-world.ts";
import { tokensFor } from "../../../lib/fakes/pod-tokens.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";
import { kubeletDir, pathOf, pod, withPodsOf } from "./pod-world.ts";

const path = pathOf("a");
const target = { podUID: "a", volume: "data", path };

describe("what kubelet asks the agent for", () => {
  let intent: IntentEntry | undefined;
  /** Each time that the planner is told of the target. */
  let changes: string[];
  let volumes: AgentPodVolumes;
  let tokens: KeptTokens;
  beforeEach(() => {
    intent = undefined;
    changes = [];
    const open = new OpenPods();
    tokens = new KeptTokens(virtualSystem().clock);
    volumes = new AgentPodVolumes({
      kubeletDir,
      open,
      tokens,
      world: {
        ofPod: () => new Set(intent?.raw.spec.pods?.some(({ uid }) => uid === "a") ? [volume] : []),
        podPaths: [],
        podChanged: () => void changes.push(open.isOpen(asMountPath(path)) ? "open" : "closing"),
      },
      journal: { records: new Map() },
      intent: () => intent,
      isBusy: () => false,
      table: async () => new MountTable([]),
      unmountLost: async () => {},
      removePoint: async () => {},
    });
  });
  const planned = () => volumes.told({ synced: true, volumes: new Map(), changed: new Map(), operations: [] });
  const names = (more: Partial<IntentPod> = {}, source: VolumeSource = { hostPath: { path: "/data" } }) => {
    intent = understand(withPodsOf([], { pods: [pod("a", more)], source }));
    if (intent === undefined) throw new Error("no intent");
    intent.raw.metadata.labels = { "nodevolume.dev/set": "set" };
  };
  const publish = (signal = new AbortController().signal, more: Partial<PodPublish> = {}) => {
    const of = { namespace: "team", podName: "pod-a", wants: { set: "set" } };
    const request: PodPublish = { ...target, ...of, readOnly: false, containersRead: false, ...more };
    return volumes.publish(request, signal).then(
      () => "published",
      ({ kind, reason }: PodVolumeError) => `${kind} ${reason}`,
    );
  };

  it("is not begun where it is refused", async () => {
    names({ subPath: "other" });
    expect(await publish()).to.equal("refused PodMismatch");
    expect(changes).to.deep.equal([]);
  });

  it("is not begun where nobody has named the pod yet, nor when it is refused then", async () => {
    const answer = publish();
    await setImmediate();
    names({ subPath: "other" });
    planned();
    expect(await answer).to.equal("refused PodMismatch");
    expect(changes).to.deep.equal([]);
  });

  it("is refused where it would be writable, and kubelet asks to read; a set may have it read-only, whatever is asked", async () => {
    names();
    expect(await publish(undefined, { readOnly: true })).to.equal("refused PodMismatch");
    names({ readOnly: true });
    const caller = new AbortController();
    const answer = publish(caller.signal, { containersRead: true });
    await setImmediate();
    expect(changes).to.deep.equal(["open"]);
    caller.abort();
    expect(await answer).to.equal("waiting Progressing");
  });

  it("is refused where it is read-only, and the containers of the pod could write, as a runtime would let them", async () => {
    names({ readOnly: true });
    for (const readOnly of [false, true])
      expect(await publish(undefined, { readOnly })).to.equal("refused AccessModeMismatch");
    const image = { image: { reference: `registry.example/a@sha256:${"0".repeat(64)}` } };
    names({ readOnly: false }, image);
    expect(await publish(), "of an image").to.equal("refused AccessModeMismatch");
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

  describe("for a driver that acts as the pod (decision 0041)", () => {
    const granted = (tokenAudiences?: string[]) => {
      const csi = { driver: "d.example", volumeHandle: "v", accessMode: "ReadWriteMany" as const };
      const grant = { id: "g", csi: { ...csi, ...(tokenAudiences && { tokenAudiences }) } };
      const source = { csi: { driver: "d.example", volumeHandle: "v" } };
      intent = understand(withPodsOf([], { pods: [pod("a")], source, grant }));
      if (intent === undefined) throw new Error("no intent");
      intent.raw.metadata.labels = { "nodevolume.dev/set": "set" };
    };
    const handed = (signatures: { [audience: string]: string }): Partial<PodPublish> => {
      return { identity: { serviceAccount: "s", tokens: PodTokens.read(tokensFor("a", signatures), "a") } };
    };
    const kept = (audiences = ["vault"]) => tokens.of(asMountPath(path), audiences)?.tokens.reveal();

    it("keeps of its tokens what the grant names, before the target is opened, until it is given back", async () => {
      granted(["vault"]);
      const answer = publish(undefined, handed({ vault: "1", other: "2" }));
      await setImmediate();
      expect(kept()).to.equal(tokensFor("a", { vault: "1" }));
      expect([changes.at(-1), kept(["vault", "other"])]).to.deep.equal(["open", undefined]);
      const given = volumes.unpublish(target, new AbortController().signal);
      expect(await answer).to.equal("waiting Unmounting");
      await given;
      expect([kept(), tokens.states.size]).to.deep.equal([undefined, 0]);
    });

    it("keeps none for a driver that acts as nobody, nor of a call that is undone", async () => {
      granted();
      const caller = new AbortController();
      const answer = publish(caller.signal, handed({ vault: "1" }));
      await setImmediate();
      expect([changes, tokens.states.size]).to.deep.equal([["open"], 0]);
      granted(["vault"]);
      planned();
      expect(kept()).to.equal(tokensFor("a", { vault: "1" }));
      caller.abort();
      await answer;
      expect(tokens.states.size).to.equal(0);
    });

    it("says at once that kubelet has handed over none, or not for each audience, and begins nothing", async () => {
      granted(["vault", "aws"]);
      expect(await publish()).to.equal("waiting WaitingForToken");
      expect(await publish(undefined, handed({ vault: "1" }))).to.equal("waiting WaitingForToken");
      expect([changes, tokens.states.size]).to.deep.equal([[], 0]);
    });

    it("tells the planner of another token, and not of the same", async () => {
      granted(["vault"]);
      void publish(undefined, handed({ vault: "1" }));
      await setImmediate();
      const before = changes.length;
      for (const signature of ["1", "2"]) void publish(undefined, handed({ vault: signature }));
      await setImmediate();
      expect(changes.slice(before)).to.deep.equal(["open"]);
      expect(kept()).to.equal(tokensFor("a", { vault: "2" }));
    });
  });
});
