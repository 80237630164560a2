import { type Seed, seedsOf } from "./seed.ts";

/** The executor: what is done, and in which order. */
export const ofExecutor: readonly Seed[] = [
  ...seedsOf("executor", "src/agent/executor/operation-executor.ts", [
    [
      "does not write down that a release has begun",
      "if (desired?.deleting === true && isRemoval(operation)) await this.#recordRevoked(operation.volume);",
      "",
    ],
    ["forgets a look that hangs", "if (!isAbandoned(error)) operations.forgetObserver", "operations.forgetObserver"],
    [
      "forgets a child that it gave up",
      "if (record?.child === undefined || isAbandoned(error)) return undefined;",
      "if (record?.child === undefined) return undefined;",
    ],
    [
      "leaves a child on record that has ended",
      "      if (record?.child !== undefined) await journal.put(withoutChild(record));\n",
      "",
    ],
    [
      "leaves to nobody without writing it down",
      "if (record !== undefined) await this.#deps.journal.put({ ...record, retained: true });",
      "",
    ],
  ]),
  ...seedsOf("executor", "src/errors.ts", [
    [
      "takes a child that was not started for one that was given up",
      'thrown.reason === "OperationAbandoned" && thrown.errorClass === "uncertain"',
      'thrown.reason === "OperationAbandoned"',
    ],
  ]),
  ...seedsOf("executor", "src/agent/executor/pending-operations.ts", [
    [
      "begins a second operation beside a child that it gave up",
      'if (!all.has(volume)) all.set(volume, "stage");',
      "if (all.has(volume)) continue;",
    ],
    [
      "takes a child that it gave up for one that has ended",
      "        if (await evidence.alive(child)) continue;\n",
      "",
    ],
    [
      "forgets another child than the one that has ended",
      "present !== undefined && sameChild(present.child, child)",
      "present !== undefined",
    ],
  ]),
  ...seedsOf("executor", "src/agent/loop.ts", [
    [
      "takes what has ended since the table was read for what the table shows",
      "...operations.told(ended),",
      "...operations.told(),",
    ],
    [
      "plans by one table while the other cannot be read",
      "      table: readable ? table : undefined,\n",
      "      table,\n",
    ],
    [
      "does not look again when an operation has ended",
      "      this.#onEnded();\n      this.trigger();\n",
      "      this.#onEnded();\n",
    ],
    [
      "forgets that an operation has failed",
      "if (failure === undefined) backoff.succeeded(operation);",
      "backoff.succeeded(operation);",
    ],
    [
      "starts operations after it was told to stop",
      "    if (this.#stopped) return;\n    this.#tellUnexplained",
      "    this.#tellUnexplained",
    ],
  ]),
  ...seedsOf("executor", "src/agent/executor/publish.ts", [
    [
      "drops a target from the record without unmounting it",
      "  if (mountID !== undefined) await unmount(context, target, mountID, unmountMode);\n",
      "",
    ],
    [
      "leaves the directories that it made to mount on",
      "if (known?.made === true && (await mayGo(context, record, { known, place }))) {",
      "if (known === null) {",
      { kubelet: "#60987: directories of volumes stay behind", test: "test/unit/agent/planner/taken-down.test.ts" },
    ],
    [
      "removes a mount point under a container that shows it",
      "if (point === undefined || table.layers(place).length > 0) return true;",
      "return true;",
    ],
    [
      "detaches lazily what others have mounted beneath",
      '  if (unmountMode === "Lazy") await refuseToTakeAlong(context, mountID);\n',
      "",
    ],
    [
      "says that a mount is busy, and not by whom",
      "throw await withUsers(error, context, target.path);",
      "throw error;",
      {
        kubelet: "#65110 #113426: a pod is Terminating for ever, and nothing says who holds its volume",
        test: "test/unit/agent/planner/taken-down.test.ts",
      },
    ],
    [
      "mounts the new over the old",
      '  if (replaces !== undefined) await mounter.unmount(target, replaces, "Normal", context.uniqueID);\n',
      "",
    ],
    [
      "takes a directory that was there for its own",
      "pod !== undefined || (known?.made ?? (await mounter.inspectTarget(target)) === undefined);",
      "true;",
    ],
    [
      "claims mounts that the new intent does not name",
      "named.has(t.path) ? { ...t, uid: desired.uid } : t",
      "{ ...t, uid: desired.uid, named }",
    ],
    [
      "adopts another mount than was seen",
      "mount === undefined || found?.id !== mountID",
      "mount === undefined || found === undefined",
    ],
    [
      "writes another mount down as its own than was seen",
      "target === undefined || mount?.id !== mountID",
      "target === undefined || mount === undefined",
    ],
    [
      "shows a pod's path of kubelet to the host",
      "mount.pod === undefined && podOfPath(context.settings.kubeletDir, path) !== undefined",
      "false",
    ],
    [
      "changes flags before it writes them down",
      "  await context.journal.put(withTarget(record, { ...target, name, attributes }));\n",
      "",
    ],
  ]),
  ...seedsOf("executor", "src/agent/executor/bind.ts", [
    [
      "does not learn which mount is its own",
      "  await journal.put(withTarget(recordOf(context, volume), { ...intended, ...whichMount(mounted) }));\n",
      "",
    ],
  ]),
  ...seedsOf("executor", "src/agent/executor/operation-context.ts", [
    [
      "lets actions mount anywhere",
      "prefix === undefined ? undefined : { prefix, path };",
      '{ prefix: prefix ?? "/", path };',
    ],
  ]),
  ...seedsOf("executor", "src/agent/executor/unstage.ts", [
    [
      "releases a disk that somebody has open",
      "    if (stage.deviceNumber !== undefined) await refuseWhileOpen(context, stage, stage.deviceNumber);\n",
      "",
    ],
    [
      "throws away a directory that is not the one that it made",
      "directory === undefined && (there === undefined || there.inode !== inode)",
      "there === undefined",
    ],
    ["removes mount points that it did not make", "if (made && target !== undefined)", "if (target !== undefined)"],
    [
      "unmounts what is staged before it writes that down",
      "  await context.journal.put({\n    ...recordOf(context, volume),\n    stage: { ...stage, ready: false, ...(identity && { identity }) },\n  });\n",
      "",
    ],
    [
      "forgets a volume whose swap is still on",
      "  await context.effects.swaps.off({ path, deviceNumber }, context.progress);\n",
      "",
    ],
  ]),
  ...seedsOf("executor", "src/agent/executor/stage.ts", [
    [
      "mounts an empty file system where its own is still on a target",
      "  if (survivor === undefined) return undefined;\n",
      "  if (survivor !== null) return undefined;\n",
    ],
    [
      "shows its own state through a link",
      "if (!isStatePath(pathOnHost(settings, canonicalPath), settings)) return;",
      'if (canonicalPath !== "") return;',
    ],
    [
      "writes the same content again and again",
      "const written = { contentVersion: content.version, ...(",
      "const written = { ...(",
    ],
    [
      "forgets what is to be undone when it stages again",
      "...(undo && { undo }), ...(capacityBytes",
      "...(capacityBytes",
    ],
  ]),
  ...seedsOf("executor", "src/agent/executor/plugin-teardown.ts", [
    [
      "detaches before it writes that down",
      "  await context.journal.put({ ...record, stage: { ...stage, ready: false, detaching: true } });\n",
      "",
    ],
  ]),
];
