import { type Seed, seedsOf } from "./seed.ts";

/** The planner: what is there, by table and record. */
export const ofLook: readonly Seed[] = [
  ...seedsOf("planner", "src/agent/actual/build-actual-state.ts", [
    [
      "does not know its own mount by its peer group",
      "  return record.peerGroup !== undefined && [entry.shared, entry.master].includes(record.peerGroup);\n",
      "  return false;\n",
    ],
    [
      "does not know its own mount whose source was renamed",
      "  if (sameMount(entry, { id: record.mountID, uniqueID: record.uniqueID })) return true;\n",
      "",
    ],
    [
      "leaves a target that shows what was staged before",
      "moved || (source !== undefined && !sameIdentity(record.identity, source));",
      "moved;",
    ],
    [
      "calls released what a lost record may have mounted",
      'mountMatch === "own" || (mayHaveLost && mountMatch !== "other");',
      'mountMatch === "own";',
    ],
    [
      "counts a volume without a grant as in use",
      " || !desired.granted) return false;\n  const staged",
      ") return false;\n  const staged",
    ],
    [
      "calls what was staged absent, though the table cannot be read",
      '    if (table === undefined && record !== undefined) return { truth: "uncertain" };\n',
      "",
    ],
    [
      "does not see that a FUSE client has ended",
      "stage.client !== undefined && isSameProcess(stage.client, ended)",
      "stage.client === undefined && isSameProcess(stage.client, ended)",
    ],
    ["takes a read-only mount that was asked for for a flip", ' && !stage.options.includes("ro")', ""],
    [
      "takes what somebody has mounted on the staging path for the volume",
      "stage.identity !== undefined && !sameFilesystem(stage.identity, mount)",
      "stage.identity === undefined && mount === undefined",
    ],
    [
      "believes its record when a mount was taken away",
      '  return { truth: "absent", ...(isMissing',
      '  return { truth: record === undefined ? "absent" : "mounted", ...(isMissing',
      {
        kubelet: "#96361 #102567: a mount that somebody has taken away is never noticed",
        test: "test/unit/agent/planner/plan.test.ts",
      },
    ],
    [
      "shows no drift of flags",
      '? "SourceDiffers" : drifted ? "OptionsDiffer" : undefined',
      '? "SourceDiffers" : undefined',
    ],
  ]),
  ...seedsOf("planner", "src/agent/planner/plan-volume.ts", [
    [
      "forgets when a driver is to be called again",
      "  return { retryAt: Math.min(retryAt ?? Infinity, dueAt ?? Infinity) };\n",
      "  return retryAt === undefined ? {} : { retryAt };\n",
    ],
    [
      "takes the mount of another volume for one that it lost",
      "record.name !== name && isRecorded(mount, record)",
      "false",
    ],
    [
      "says nothing of a mount table that cannot be read",
      "  return { ...problems, volume: tableUnreadable };\n",
      "  return problems;\n",
    ],
  ]),
  ...seedsOf("planner", "src/agent/actual/build-actual-state.ts", [
    [
      "takes any mount with the id for its own that was moved",
      "!isTarget && sameIdentity(entry, target.identity) ? entry",
      "!isTarget ? entry",
    ],
    ["takes a mount of another peer group for its own that was moved", " || entry.shared !== target.peerGroup", ""],
    [
      "takes a mount that has got the id of its own for that",
      "  if (!sameMount(entry, { id: target.mountID, uniqueID: target.uniqueID })) return undefined;\n",
      "",
    ],
  ]),
  ...seedsOf("planner", "src/agent/planner/lost-record-steps.ts", [
    [
      "does not ask a driver to undo what a lost record was of",
      "  if (mustRecover(desired, { input, record })) return",
      "  if (false) return",
    ],
    [
      "takes down what may be somebody else's, when its record may be lost",
      'mountMatch === "own" || wanted?.pod !== undefined;',
      "wanted !== null;",
    ],
  ]),
  ...seedsOf("planner", "src/agent/actual/unread.ts", [
    [
      "calls released what a lost record of an intent that is not understood may have mounted",
      "  const paths = mayHaveLost ? unrecordedPaths(input) : [];\n",
      "  const paths: string[] = [];\n",
    ],
    [
      "keeps an intent that is not understood for a mount that another volume has on record",
      'if (record === undefined) return identifyMount(mount) !== "other";',
      "if (record === undefined) return true;",
    ],
  ]),
  ...seedsOf("planner", "src/agent/planner/path-owners.ts", [
    [
      "overlooks a volume on a directory above",
      "    for (const ancestor of ancestorsOf(path)) places.push(this.#claims.get(ancestor));\n",
      "",
    ],
    [
      "overlooks a volume on a directory beneath",
      "[this.#claims.get(path), this.#beneath.get(path)]",
      "[this.#claims.get(path)]",
    ],
    [
      "gives up a path that it has to one who came later",
      "others.filter(({ recorded }) => recorded || !has).sort",
      "others.sort",
    ],
  ]),
];
