import { type Seed, seedsOf } from "./seed.ts";

/** Attach: who gets a volume, and when. */
export const ofAttach: readonly Seed[] = [
  ...seedsOf("attach", "src/controller/attach/decide-volume.ts", [
    [
      "gives everybody a turn at once",
      "inTurn.has(consumer) ? undefined : alone ? oldest : turnOn.get(nodeNameOf(consumer));",
      "undefined;",
    ],
    [
      "detaches from a machine that is perhaps another one",
      "stale !== undefined && !isGivenUp(consumer, attachment)",
      "stale !== undefined && consumer === undefined",
    ],
    [
      "takes an attachment for unused until a node says otherwise",
      "    if (!usedBefore(metadata.annotations)) {\n",
      "    if (metadata.annotations !== null) {\n",
      {
        kubelet: "#117042: a new attachment counts as unused until the node's status says otherwise",
        test: "test/unit/controller/attach/decide-volume.test.ts",
      },
    ],
    [
      "begins elsewhere before it has detached",
      "decisions: first === undefined ? decisions : decisions.map((one) => afterDetach(one, first)), detach",
      "decisions, detach",
    ],
    [
      "changes its mind on whose turn it is",
      "[...(begun ?? []), ...(rest ?? [])]",
      "[...(rest ?? []), ...(begun ?? [])]",
    ],
    [
      "gives no heed to who came first",
      "for (const consumer of [...facts.consumers].sort(byAge)) {",
      "for (const consumer of facts.consumers.toReversed()) {",
    ],
    [
      "lets who could share a volume keep it from who must be alone",
      "else if (next === undefined || next === consumer || isExclusive(consumer) || isBegun(facts, consumer))\n        ready",
      "else if (waitReason === undefined) ready",
    ],
    [
      "does not take the out-of-service taint for a proof",
      "return (node !== undefined && isOutOfService(node)) || (",
      "return (node === null) || (",
    ],
  ]),
  ...seedsOf("attach", "src/controller/attach/decide-attachment.ts", [
    ["grants what is not attached yet", "  if (!attachment.attached) {\n", "  if (attachment === undefined) {\n"],
    [
      "attaches more volumes than a node takes",
      "if (limit === undefined || attached < limit) return undefined;",
      "if (limit === undefined || attached < limit + 100) return undefined;",
      {
        kubelet: "#80286 #95911: nodes over their limit of attachments",
        test: "test/unit/controller/attach/decide-volume.test.ts",
      },
    ],
    [
      "does not see that somebody deletes what is in use",
      "  if (attachment.metadata.deletionTimestamp !== undefined) {\n    const message =",
      "  if (false) {\n    const message =",
    ],
    [
      "grants what is attached to another machine of the name",
      "const stale = staleNodeID(attachment, consumer.place.nodeID);",
      "const stale = undefined;",
    ],
    [
      "grants with a publish context that does not fit",
      "troubleOf(consumer, attachment) ?? publishContextTooLarge(attachment);",
      "troubleOf(consumer, attachment);",
    ],
    [
      "does not make again what somebody has deleted under a grant",
      'return { consumer, step: { do: "attach", again: true }, waitReason: {',
      "return { consumer, waitReason: {",
    ],
  ]),
  ...seedsOf("attach", "src/controller/attach/obstacles.ts", [
    ["gives a volume that is being detached elsewhere", "  if (leaving !== undefined) {", "  if (false) {"],
    ["gives a volume that kubelet has attached", "  if (foreign !== undefined) {", "  if (false) {"],
    [
      "gives a volume that another node has, which must be alone",
      "const holder = alone ? facts.holders[0] : facts.holderOn.get(nodeName);",
      "const holder = facts.holderOn.get(nodeName);",
      {
        kubelet: "#115997 #57497: a volume for one node is given to a second one while the first has it",
        test: "test/unit/controller/attach/decide-volume.test.ts",
      },
    ],
    [
      "gives a volume whose attachment elsewhere may be in use",
      "(usedBefore(one.metadata.annotations) || !asking.has(one.nodeName))",
      "!asking.has(one.nodeName)",
    ],
    [
      "gives a volume that is being attached elsewhere",
      "name !== nodeName && !asking.has(name));",
      "name === nodeName && !asking.has(name));",
    ],
    [
      "has several use what is for one pod",
      'accessMode === "ReadWriteOncePod" && users > 1',
      'accessMode === "ReadWriteOncePod" && users > 9',
    ],
    [
      "attaches to a node where the volume cannot be used",
      "terms !== undefined && !matchesTerms(terms, node)",
      "terms !== undefined && node === null",
    ],
    [
      "attaches where the driver is not",
      "attachRequired && place.nodeID === undefined",
      "attachRequired && place === undefined",
    ],
  ]),
  ...seedsOf("attach", "src/controller/attach/volume-facts.ts", [
    [
      "forgets a grant that was written and not seen",
      "return granting || intent.spec.grant !== undefined;",
      "return intent.spec.grant !== undefined;",
    ],
    [
      "takes an unknown access mode for one of many nodes",
      "mode === undefined || isSingleNode(mode)",
      "mode !== undefined && isSingleNode(mode)",
    ],
    [
      "overlooks attachments of others",
      "foreign: attachments.find(({ metadata }) => !isOwnAttachment(metadata.name)),",
      "foreign: undefined,",
    ],
  ]),
  ...seedsOf("attach", "src/controller/grants/write-grant.ts", [
    [
      "grants on an attachment that is being deleted",
      "found === undefined || found.metadata.deletionTimestamp !== undefined || !found.attached",
      "found === undefined",
    ],
    [
      "grants to an intent that is being deleted",
      "return metadata.deletionTimestamp === undefined && spec.grant",
      "return spec.grant",
    ],
    ["grants twice", " && spec.grant === undefined && spec.mode", " && spec.mode"],
    ["grants to what only observes", ' && spec.mode === "Manage";', ";"],
    ["does not count a grant that has had no answer", "  deps.expectations.beginGrant(intent);\n", ""],
  ]),
  ...seedsOf("attach", "src/controller/grants/patch-intent.ts", [
    ["grants to another object of the name", "intent.metadata.uid !== uid || !isDue", "!isDue"],
    [
      "gives up when an agent writes at the same moment",
      "if (!isConflict(error) || left <= 1) throw error;",
      "throw error;",
    ],
  ]),
  ...seedsOf("attach", "src/controller/attach/expectations.ts", [
    [
      "takes the grant of another object of the name for this one's",
      "grants.get(metadata.name) !== metadata.uid",
      "!grants.has(metadata.name)",
    ],
    ["remembers in a new term what was written in an old one", "      attachments.clear();\n", ""],
  ]),
  ...seedsOf("attach", "src/controller/attach/gather-volume.ts", [
    [
      "attaches nothing of a driver without a CSIDriver object",
      "driver?.attachRequired ?? true",
      "driver?.attachRequired ?? false",
    ],
    ["counts intents that only observe", '.filter(({ spec }) => spec.mode === "Manage");', ";"],
    ["does not count what is being attached for the limit", ", ...expectations.attachingOn(id, node)]", "]"],
  ]),
  ...seedsOf("attach", "src/controller/attach/attachment-name.ts", [
    [
      "names the attachments of a volume on all nodes alike",
      "volumeHandle }: VolumeID, node: string): string {\n",
      'volumeHandle }: VolumeID, node: string): string {\n  node = "";\n',
    ],
    [
      "takes kube-controller-manager's attachments for its own",
      "return /^nvi-[0-9a-f]{64}$/.test(name);",
      "return /^(nvi|csi)-[0-9a-f]{64}$/.test(name);",
    ],
  ]),
  ...seedsOf("attach", "src/controller/attach/retries.ts", [
    ["tries again at once what the server has refused", "if (leftMs > 0) return", "if (leftMs > 1e9) return"],
    [
      "waits though the spec is another one",
      "known?.uid === metadata.uid && known?.generation === metadata.generation ?",
      "known?.uid === metadata.uid ?",
    ],
  ]),
  ...seedsOf("attach", "src/controller/model/wait-reason.ts", [
    ["waits since now, each time it says so", "same ? (before.since ?? now) : now", "now"],
  ]),
  ...seedsOf("attach", "src/controller/claims/claim-reservation.ts", [
    [
      "takes a claim that is attached for others",
      "(await usedByPods(client, claim)) ?? (await attachedByOthers());",
      "await usedByPods(client, claim);",
    ],
    [
      "takes a claim that pods use",
      "const used = (await usedByPods(client, claim)) ?? (await attachedByOthers());",
      "const used = await attachedByOthers();",
    ],
  ]),
];
