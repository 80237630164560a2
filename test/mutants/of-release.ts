import { type Seed, seedsOf } from "./seed.ts";

/** Attach: who is believed to have let a volume go, and what is taken away then. */
export const ofRelease: readonly Seed[] = [
  ...seedsOf("attach", "src/controller/release/decide-release.ts", [
    ["believes the acknowledgement of another object", "    status.observedUID === metadata.uid &&\n", ""],
    [
      "believes any agent while the policy that keeps them apart is missing",
      "  if (wrong !== undefined) return doubtAgainMs;\n",
      "",
    ],
    [
      "believes at once what was written while that policy was missing",
      "  if (rightForMs < settleMs(mendsInMs)) return settleMs(mendsInMs) - rightForMs;\n",
      "",
    ],
    [
      "believes a silent agent's status that others may have written",
      "rightForMs - renewedForMs >= mendsInMs ?",
      "rightForMs >= 0 ?",
    ],
    [
      "believes the acknowledgement of another generation",
      "    status.observedGeneration === metadata.generation &&\n",
      "",
    ],
    ["believes the acknowledgement of another grant", "    status.grantID === spec.grant?.id &&\n", ""],
    ["believes an acknowledgement that no agent has signed", '    (status.agent?.bootID ?? "") !== "" &&\n', ""],
    [
      "believes Released of what is in use",
      'status.state === "Released" && status.inUse === false',
      'status.state === "Released"',
    ],
    [
      "takes a reboot for a proof beside an agent that lives",
      "isRebooted(intent, node) && silentForMs >= 0",
      "isRebooted(intent, node)",
    ],
    [
      "takes a Node that was deleted for a machine that is off",
      "node === undefined && lostForMs >= timeoutMs(intent)",
      "node === undefined",
    ],
    [
      "detaches by force after six minutes",
      "timeoutSeconds * 1000 : Number.POSITIVE_INFINITY;",
      "timeoutSeconds * 1000 : 360_000;",
      {
        kubelet: "#65392 #68086: six minutes are the proof, for everybody",
        test: "test/unit/controller/release/decide-release.test.ts",
      },
    ],
    [
      "takes a status without a boot for one of another boot",
      'node.bootID !== "" && bootID !== "" && node.bootID',
      'node.bootID !== "" && node.bootID',
    ],
    ["takes a Node for rebooted that is not ready", "return node.ready && node.bootID", "return node.bootID"],
    [
      "looks for a proof that time brings only when something else happens",
      "remainingMs > 0 && Number.isFinite(remainingMs) ?",
      "remainingMs > 0 && remainingMs === 0 ?",
    ],
  ]),
  ...seedsOf("attach", "src/controller/reconcilers/release-reconciler.ts", [
    [
      "releases another object of the name",
      "intent === undefined || intent.metadata.uid !== seen.metadata.uid || !awaitsRelease(intent)",
      "intent === undefined || !awaitsRelease(intent)",
    ],
    [
      "detaches from a Ready node that has it mounted, by what the cache shows",
      "const decision = decideRelease(intent, { node, ...agents() });",
      "const decision = node === null ? node : first;",
      {
        kubelet: "#106710: a volume is detached while it is mounted on a Ready node",
        test: "test/unit/controller/reconcilers/release-reconciler.test.ts",
      },
    ],
    [
      "removes the finalizer before the volume is detached",
      '    return { release: false, reason: "Unmounting" };\n  }\n  await',
      "  }\n  await",
    ],
    [
      "overlooks a Lease that was renewed since the watch showed it",
      "  if (lease !== undefined) deps.sawLease(lease);\n",
      "",
    ],
    ["takes the finalizers of others off, too", "filter((name) => name !== finalizer.inUse);", "filter(() => false);"],
    ["leaves its marks on the claim", "  await deps.attachments?.release(intent);\n", ""],
  ]),
  ...seedsOf("attach", "src/controller/attach/write-attachment.ts", [
    ["detaches from under an intent that the cache has not", "  if (items.some(uses)) return;\n", ""],
    [
      "deletes another version of an attachment than it has looked at",
      "{ name, uid, resourceVersion });",
      "{ name, uid });",
    ],
    [
      "deletes another attachment of the name",
      "attachment === undefined || attachment.metadata.uid !== uid",
      "attachment === undefined",
    ],
    ["forgets an attachment that was written and not seen", "  expectations.beginAttach(id, nodeName);\n", ""],
    [
      "makes an attachment again as one that nobody uses",
      "...(grant !== undefined && { [annotation.grant]: grant.id }),",
      "",
    ],
    [
      "attaches what a claim names by now, not what was granted",
      "isSame ? resolved.attachmentSource : { persistentVolumeName: granted.name }",
      "resolved?.attachmentSource",
    ],
  ]),
  ...seedsOf("attach", "src/controller/attach/intent-attachments.ts", [
    [
      "takes an attachment away from another intent that has it",
      "return spec.grant === undefined && rivals.some(",
      "return spec.grant === null && rivals.some(",
    ],
    ["takes marks off a claim that others use", "      if (others(intent).length > 0) return;\n", ""],
  ]),
];
