import { type Seed, seedsOf } from "./seed.ts";

/** The executor: calls of CSI drivers. */
export const ofCSI: readonly Seed[] = [
  ...seedsOf("executor", "src/agent/executor/csi/driver-call.ts", [
    [
      "takes a call that timed out for one that was refused",
      'const uncertain = !(error instanceof VolumeError) || error.errorClass === "uncertain";',
      "const uncertain = error === undefined;",
      {
        kubelet: "#82190: what a stage that timed out has done is never undone",
        noticedBy: { scenario: "a call of a CSI driver that timed out takes effect, after the volume is to go" },
      },
    ],
    [
      "does not ask a driver from whose answer its time would run",
      "  if (!awaitsAnswer(calls, csi.now())) return;\n",
      "  if (calls !== null) return;\n",
    ],
  ]),
  ...seedsOf("executor", "src/agent/model/csi-call-record.ts", [
    ["counts from the newest answer, which never ends", "answeredAt?.epoch === now.epoch ? answeredAt : now", "now"],
    [
      "counts by the clock of another run",
      "  if (answeredAt?.epoch !== now.epoch) return deadlineMs;\n",
      "  if (answeredAt === undefined) return deadlineMs;\n",
    ],
    [
      "takes no answer for one, after a restart",
      " && open.answeredAt?.epoch !== now.epoch",
      " && open.answeredAt === undefined",
    ],
  ]),
  ...seedsOf("executor", "src/agent/executor/csi/stage.ts", [
    ["has two intents stage one volume on one path", "if (other !== undefined) {", "if (false) {"],
    ["stages what has to be attached, where nothing is", "  refuseAttached(context, desired.name, volume);\n", ""],
    [
      "forgets that a driver of before has staged",
      "capabilities.stageUnstage || before?.needsUnstage === true",
      "capabilities.stageUnstage",
    ],
    [
      "believes a driver that has staged twice over",
      "  if (layers.length > 1) {\n    await journal.put(record);",
      "  if (false) {\n    await journal.put(record);",
    ],
  ]),
  ...seedsOf("executor", "src/agent/executor/csi/publish.ts", [
    ["believes a driver that says OK and has mounted nothing", "  if (wrong !== undefined) {", "  if (false) {"],
    [
      "does not stage again where a driver says that it was not",
      "if (!refused || stage.identity !== undefined) return;",
      "if (stage !== null) return;",
    ],
  ]),
  ...seedsOf("executor", "src/agent/actual/published-mount.ts", [
    [
      "takes what lies over a publish path for the driver's",
      "table.layers(path).length !== 1) return undefined;",
      "table.layers(path).length === 0) return undefined;",
    ],
  ]),
  ...seedsOf("executor", "src/agent/executor/csi/unpublish.ts", [
    [
      "believes a driver that says OK and has unmounted nothing",
      "layers(path).length > 0) {",
      "layers(path).length > 99) {",
    ],
    ["releases what a driver has left", "  if (left !== undefined) throw leftBy(csi, unstages, left);\n", ""],
    [
      "releases while a call may still take effect",
      "  await requireDriverReply(context, volume);\n  refuseWhileActing(context, recordOf(context, volume));\n",
      "",
    ],
    [
      "drops a target while a call may still take effect",
      "  await nodeUnpublish(context, volume, target);\n  refuseWhileActing(context, recordOf(context, volume));\n",
      "  await nodeUnpublish(context, volume, target);\n",
    ],
    [
      "releases what a container shows",
      "    ended.push(await refuseWhileShown(context, volume, { shown, block: csi.block, shared: !unstages }));\n",
      "    ended.push(shown !== null);\n",
    ],
    ["gives up where a driver has forgotten how to unstage", "if (unstages || !refused) throw error;", "throw error;"],
  ]),
  ...seedsOf("executor", "src/agent/executor/csi/republish.ts", [
    [
      "takes a pod's mount away when its driver refuses to be called again",
      "  } finally {\n    covered =",
      '  } catch (error) {\n    const at = { prefix: context.settings.csiDir, path: published.path };\n    await context.effects.mounter.unmount(at, before.id, "Normal", before.uniqueID);\n    throw error;\n  } finally {\n    covered =',
      { kubelet: "#121271: an error of a repeated publish removes the mount" },
    ],
    [
      "leaves what a driver mounts over its own when it is called again",
      "if (top === undefined || top.id === below ||",
      "if (top !== null || top.id === below ||",
    ],
  ]),
  ...seedsOf("executor", "src/agent/planner/driver-republish-steps.ts", [
    [
      "calls a driver again and again",
      "const intervalMs = { least: 45_000, spread: 30_000 } as const;",
      "const intervalMs = { least: 0, spread: 0 } as const;",
    ],
    [
      "does not call a driver again",
      "actions: all.filter(({ at }) => at <= input.now)",
      "actions: all.filter(({ at }) => at > input.now)",
    ],
  ]),
  ...seedsOf("executor", "src/agent/actual/csi-volume.ts", [
    [
      "calls a stage absent that only its driver can end",
      'return { ...base, truth: "uncertain", ...(stage.ready && { drift: "Missing" as const }) };',
      'return { ...base, truth: "absent" };',
    ],
    [
      "leaves a bind of what the driver has published otherwise since",
      "{ published: gone, outdated: true,",
      "{ published: gone, outdated: false,",
    ],
  ]),
];
