import { expect } from "chai";
import { described, failureOf, type Pod } from "../../lib/cluster/pod-state.ts";

const metadata = { name: "pod-1", uid: "1" };
const spec = { nodeName: "node" };
const ended = (exitCode: number, reason = "Error", message?: string) => ({
  terminated: { exitCode, reason, ...(message !== undefined && { message }) },
});
const main = { name: "main", restartCount: 0 };
const canceled = ended(128, "StartError", "failed to create containerd task: context canceled");

function withContainer(container: object, more: object = {}): Pod {
  const containerStatuses = [{ ...main, ...container }];
  return { metadata: { ...metadata, ...more }, spec, status: { phase: "Running", containerStatuses } };
}

describe("a pod's state", () => {
  const lines: readonly [string, Pod | undefined, string][] = [
    ["that is gone", undefined, "pod-1 is gone"],
    ["that no scheduler has seen", { metadata, spec: {} }, "pod-1 without a phase, on no node"],
    [
      "that kubelet did not admit",
      { metadata, spec, status: { phase: "Failed", reason: "OutOfcpu", message: "Node\ndidn't have" } },
      "pod-1 Failed, OutOfcpu: Node didn't have",
    ],
    ["that runs", withContainer({ state: { running: {} } }), "pod-1 Running, main: running"],
    [
      "that waits for its turn again",
      withContainer({
        restartCount: 2,
        state: { waiting: { reason: "CrashLoopBackOff" } },
        lastState: ended(1, "Error", "no"),
      }),
      "pod-1 Running, main: waiting for CrashLoopBackOff (started again 2 times, before: exited with 1, Error: no)",
    ],
    [
      "that goes",
      withContainer({ state: ended(255, "Unknown") }, { deletionTimestamp: "now" }),
      "pod-1 Running, being deleted, main: exited with 255, Unknown",
    ],
  ];
  for (const [what, pod, line] of lines)
    it(`described says on one line all that is told of a pod ${what}`, () => {
      expect(described("pod-1", pod)).to.equal(line);
    });

  const failures: readonly [string, Pod, string | undefined][] = [
    [
      "what the program says",
      withContainer({ state: ended(1, "Error", "round 3: no such file") }),
      "round 3: no such file",
    ],
    ["the code of one that says nothing", withContainer({ state: ended(139) }), "exited with 139"],
    [
      "what it said before it was started again",
      withContainer({ restartCount: 1, state: { running: {} }, lastState: ended(1, "Error", "round 3: stale") }),
      "round 3: stale",
    ],
    [
      "a volume that is not there when it starts",
      withContainer({ state: ended(128, "StartError", "no such file") }),
      "no such file",
    ],
    ["not that kubelet was killed as it started", withContainer({ restartCount: 1, lastState: canceled }), undefined],
    ["not an end that was asked for", withContainer({ state: ended(137) }), undefined],
    ["not the end before it listened", withContainer({ state: ended(2) }, { deletionTimestamp: "now" }), undefined],
    ["the same of one that should stay", withContainer({ state: ended(2) }), "exited with 2"],
  ];
  for (const [what, pod, failure] of failures)
    it(`failureOf is ${what}`, () => {
      expect(failureOf(pod)).to.equal(failure);
    });
});
