import { type Seed, seedsOf } from "./seed.ts";

/** The planner: what is to be done, and when. */
export const ofPlanner: readonly Seed[] = [
  ...seedsOf("planner", "src/agent/planner/volume-steps.ts", [
    [
      "forgets what is staged and was bound nowhere yet",
      "  if (recorded.length === 0) return unstageSteps(context, policy, problems);\n",
      "  if (recorded.length === 0) return { actions: [], problems };\n",
      {
        kubelet: "#121937 #101791: after a restart what is staged and not published is never unstaged",
        test: "test/unit/agent/planner/plan.test.ts",
      },
    ],
    [
      "ends by force the requests of others on a file system that it did not mount",
      'record?.stage?.kind === "filesystem";\n  return rungs',
      "true;\n  return rungs",
    ],
    ["unmounts lazily what may only be forced", 'if (rungs >= 2 && max === "Lazy")', "if (rungs >= 2)"],
    ["forces what may only be unmounted", 'rungs >= 1 && max !== "Normal" && own', "rungs >= 1 && own"],
    ["goes up the ladder a thousand times too fast", "/ (timeoutSeconds * 1000));", "/ timeoutSeconds);"],
    [
      "counts the time of another failure for the ladder",
      "if (failure?.kind !== action.kind)",
      "if (failure === undefined)",
    ],
    [
      "binds its own state directory into the host",
      "path === undefined || !isStatePath(path, settings)",
      "path === undefined || path !== settings.stateDir",
    ],
    [
      "does not write what a ConfigMap has by now",
      "stage?.contentVersion !== content.version",
      "stage?.contentVersion === undefined",
      {
        kubelet: "#30189 #50345: what is shown of a ConfigMap stays behind",
        test: "test/unit/agent/planner/plan.test.ts",
      },
    ],
    [
      "does not stop a release when the volume is wanted again",
      "record.retained === true || record.revoked === true",
      "record.retained === true",
    ],
    [
      "stages before it knows the content",
      'content?.known === false ? [] : [{ kind: "stage" }]',
      '[{ kind: "stage" }]',
    ],
    [
      "mounts anew under a pod that uses it",
      "if (mustReplace && (held.length === 0 || !isSameForDriver(desired, record?.stage)))",
      "if (mustReplace)",
    ],
    [
      "takes the mount of a pod before kubelet gives it back",
      "const held = isHeldByPod(record, input);",
      "const held = false;",
    ],
    [
      "unmounts a target at its old path, though it was moved",
      "      ...(target.ours && target.ours.point !== target.path && { at: target.ours.point }),\n",
      "",
    ],
    [
      "unstages what pods are to find ready",
      "desired.mounts.length === 0 && desired.pods === undefined &&",
      "desired.mounts.length === 0 &&",
    ],
  ]),
  ...seedsOf("planner", "src/agent/planner/decide-phase.ts", [
    [
      "uses a volume that was not granted",
      '  if (!desired.granted) return { phase: "ungranted", steps: nothing };\n',
      "",
    ],
    [
      "changes what it is only to observe",
      '  if (desired.mode === "Observe") return { phase: "observe", steps: observeSteps(desired, context) };\n',
      "",
    ],
    [
      "takes down what was left to nobody",
      '  if (record?.retained === true) return { phase: "retained", steps: nothing };\n',
      "",
    ],
    ["takes down what is to be left", 'desired.deletionPolicy === "Retain"', "desired.deletionPolicy === undefined"],
    [
      "acknowledges a release while a child that was given up lives",
      'empty && actualState.stage.truth === "absent" && record?.child === undefined;',
      'empty && actualState.stage.truth === "absent";',
    ],
    [
      "forgets a record while something is to be undone",
      "record?.child === undefined && record?.stage?.undo === undefined;",
      "true;",
    ],
    [
      "forgets a record while a target is mounted",
      'actualState.targets.some((target) => target.truth !== "absent") || !undone',
      "!undone",
    ],
    [
      "does not take what kubelet gives back",
      "record === undefined || unpublishRequests(record, input) === undefined",
      "record === undefined || input !== undefined",
    ],
    [
      "calls released what it may have lost the record of",
      "nothingLeft || unread ? lostSteps(desired, context) : undefined",
      "undefined",
    ],
  ]),
  ...seedsOf("planner", "src/agent/planner/next-operation.ts", [
    ["tries again at once what has failed", "again === undefined || input.now >= again.nextAt", "input.now >= 0"],
    [
      "keeps the delay of a failure though the spec is another one",
      "failed?.kind === action.kind && failed.generation === generation ? failed",
      "failed?.kind === action.kind ? failed",
      { kubelet: "#27492: the delay outlives the cause that was mended", test: "test/unit/agent/planner/plan.test.ts" },
    ],
    [
      "lets kubelet wait until all intents were read",
      'if (kind === "unpublish" && input.closingPods?.has(operation.path) === true) return true;',
      "",
    ],
    [
      "carries out the plan of what it is only to observe",
      '  if (phase === "observe") return kind === "observe";\n',
      "",
    ],
    [
      "repairs what is suspended",
      'phase !== "setUp" || desired === undefined ||',
      'phase !== "observe" || desired === undefined ||',
    ],
    ["names a mount by an id alone, which another may get", "exactly(operation, input.table)", "operation"],
  ]),
  ...seedsOf("planner", "src/agent/planner/path-problem.ts", [
    [
      "mounts outside of what is allowed",
      "path !== prefix && isBeneath(path, prefix)",
      'path !== prefix && path !== ""',
    ],
    ["mounts on an allowed prefix itself", "path !== prefix && isBeneath(path, prefix)", "isBeneath(path, prefix)"],
    ["takes a path with dots", "if (hasDots(path)) return", "if (false) return"],
    ["mounts on what is kubelet's", "  if (isOfKubelet(kubeletDir, path)) {", "  if (false) {"],
  ]),
  ...seedsOf("planner", "src/agent/planner/target-steps.ts", [
    [
      "leaves a mount that the node does not have",
      "    if (target.differsOnNode === true) return",
      "    if (false) return",
    ],
    ["leaves flags that somebody has changed", "    if (!target.attributesDiffer) return [];\n", "    return [];\n"],
    [
      "changes flags in place that others keep",
      "    if (mustReplaceForFlags(target, mount)) return",
      "    if (false) return",
    ],
    ["mounts for a group that it must not give it to", "  if (owned !== undefined && !settled) return [];\n", ""],
    ["leaves the files with the group of before", 'target.outdated || group.action === "walk";', "target.outdated;"],
  ]),
  ...seedsOf("planner", "src/agent/backoff/backoff.ts", [
    [
      "waits out its delay, whatever event has come",
      "failure === undefined || failure.nextAt <= clock.monotonic()",
      "failure === undefined || clock !== undefined",
      {
        kubelet: "#71569: an event that mends the cause does not end the delay",
        test: "test/unit/agent/backoff/backoff.test.ts",
      },
    ],
    ["does not double the delay", "again ? previous.attempts + 1 : 1;", "1;"],
    [
      "counts attempts of another spec",
      "previous?.kind === failed.kind && previous.generation === failed.generation",
      "previous?.kind === failed.kind",
    ],
    ["makes the delay longer for each event too many", "equalJitter(attempts - resets,", "equalJitter(attempts,"],
    ["keeps failures of volumes that are gone", "if (!volumes.has(name)) this", "if (volumes === undefined) this"],
  ]),
  ...seedsOf("planner", "src/agent/loop.ts", [
    [
      "lets what hangs hold up all other volumes",
      "if (now - at < paceMs) room -= 1;",
      "if (now >= at) room -= 1;",
      {
        kubelet: "#31272 #101622: what waits for a dead server holds up the others",
        test: "test/unit/agent/executor/rate-limit.test.ts",
      },
    ],
    ["begins new volumes before those that are under way", "[...onward, ...others]", "[...others, ...onward]"],
  ]),
];
