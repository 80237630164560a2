import { expect } from "chai";
import { listedInTime } from "../../../../src/agent/pods/listed-in-time.ts";
import type { PodPublish, PodVolumes } from "../../../../src/csi/server/ports.ts";

const request: PodPublish = {
  podUID: "a",
  volume: "data",
  path: "/kubelet/pods/a/volumes/kubernetes.io~csi/data/mount",
  namespace: "team",
  podName: "pod-a",
  wants: { set: "set" },
  readOnly: false,
  containersRead: false,
};

describe("the wait for an intent to name a pod", () => {
  const listed = new Set<string>();
  let due: (() => void) | undefined;
  let waits: number;
  const timers = {
    after: (ms: number, action: () => void) => {
      waits = ms;
      due = action;
      return () => {
        due = undefined;
      };
    },
  };
  /** Ends when its signal does. */
  const volumes: PodVolumes = {
    publish: (_, signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended")))),
    unpublish: async () => {},
  };
  const had = new Set<string>();
  const inTime = listedInTime(volumes, {
    timers,
    isListed: (path) => listed.has(path),
    isHad: (path) => had.has(path),
  });
  beforeEach(() => {
    listed.clear();
    had.clear();
  });

  it("ends after twenty seconds", async () => {
    const answer = inTime.publish(request, new AbortController().signal);
    expect(waits).to.equal(20_000);
    due?.();
    expect(await answer.catch((error: Error) => error.message)).to.equal("ended");
  });

  it("ends as early for a volume that the pod has already, and that is mended without a call", async () => {
    listed.add(request.path);
    had.add(request.path);
    const answer = inTime.publish(request, new AbortController().signal);
    due?.();
    expect(await answer.catch((error: Error) => error.message)).to.equal("ended");
  });

  it("does not end the wait for the volume of a pod that is named", async () => {
    const caller = new AbortController();
    const answer = inTime.publish(request, caller.signal).catch((error: Error) => error.message);
    listed.add(request.path);
    due?.();
    expect(await Promise.race([answer, Promise.resolve("waits")])).to.equal("waits");
    caller.abort();
    expect(await answer).to.equal("ended");
    expect(due, "the timer").to.equal(undefined);
  });
});
