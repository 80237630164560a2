import type { CrashPoint } from "../faults.ts";
import { csiMutations } from "./csi-mutations.ts";
import { indexMutations } from "./index-mutations.ts";

/** One text of a file, which it has exactly once, replaced by another. */
export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A run that noticed something. */
export interface Hint {
  readonly scenario: string;
  readonly seed?: number;
  readonly stormy?: boolean;
  readonly crash?: CrashPoint;
}

/** What was noticed, after how many runs, and in which. */
export interface Sighting {
  readonly what: string;
  readonly runs?: number;
  readonly hint?: Hint;
}

/** A way to break the product. */
export interface Mutation extends Edit {
  /** The law that it breaks, "journal before effect", or the rule that it is about. */
  readonly law: string;
  readonly name: string;
  /** The second line of defence, where there is one: of the product, or of the part of the host that stands for one. */
  readonly also?: Edit;
  /** A run in fair weather that notices it, with what ends its processes: it is tried at every push. */
  readonly noticedBy?: Hint;
}

/** Each of these must be noticed by the simulator. */
export const mutations: readonly Mutation[] = [
  {
    law: "journal before effect",
    name: "mount first, write it down afterwards",
    noticedBy: { scenario: "emptyDir in memory" },
    file: "src/agent/actions/bind.ts",
    from: "  await journal.put(withTarget(recordOf(context, volume), intended));\n",
    to: "",
  },
  {
    law: "journal before effect",
    name: "believe a record before it is on disk",
    file: "src/agent/journal.ts",
    from: "    await this.#append({ change: { name: record.name, record },",
    to: "    this.#records.set(record.name, record);\n    await this.#append({ change: { name: record.name, record },",
  },
  {
    law: "L4",
    name: "start an operation while another one of the volume runs",
    noticedBy: { scenario: "emptyDir in memory" },
    file: "src/agent/plan-volume.ts",
    from: "  if (running === undefined) return { ...base, pending, ...chosen };\n",
    to: "  return { ...base, pending, ...chosen };\n",
  },
  {
    law: "L3",
    name: "unstage while a target is mounted",
    noticedBy: { scenario: "emptyDir in memory" },
    file: "src/agent/steps.ts",
    from: "  if (recorded.length === 0) return unstageSteps(context, policy, problems);\n",
    to: "  return unstageSteps(context, policy, problems);\n",
  },
  {
    law: "L6",
    name: "take every mount on a path of ours for ours",
    noticedBy: { scenario: "a foreign mount over ours" },
    file: "src/agent/look.ts",
    from: "  if (sameIdentity(entry, record.identity)) return true;\n",
    to: "  return true;\n",
  },
  {
    law: "L8",
    name: "take down what an intent that vanished has left",
    noticedBy: { scenario: "retained" },
    file: "src/agent/decide.ts",
    from: "  if (record?.revoked === true && record.retained !== true) {\n",
    to: "  if (record !== undefined) {\n",
  },
  {
    law: "rule 4",
    name: "act on a generation older than the journal's",
    file: "src/agent/decide.ts",
    from: "  return record !== undefined && record.uid === desired.uid && desired.generation < record.generation;\n",
    to: "  return false;\n",
  },
  {
    law: "L10",
    name: "say Mounted of what the intent asks for",
    noticedBy: { scenario: "emptyDir in memory" },
    file: "src/agent/state-of-target.ts",
    from: '  if (isShown(target)) return "Mounted";\n',
    to: '  if (target.desired !== undefined) return "Mounted";\n',
  },
  {
    law: "rule 8",
    name: "acknowledge the release of what is still being set up",
    file: "src/agent/decide.ts",
    from: '  if (empty && running !== undefined && running !== "observe")',
    to: "  if (false)",
    also: { file: "src/agent/status-of.ts", from: " || isBeingSetUp(volume)", to: "" },
  },
  {
    law: "rule 6",
    name: "release without looking into other mount namespaces",
    file: "src/agent/actions/held.ts",
    from: "  if (holders.length === 0 || (shared && onNode !== undefined)) return;\n",
    to: "  return;\n",
  },
  {
    law: "reboot",
    name: "believe the journal's mounts after a reboot",
    file: "src/agent/journal.ts",
    from: "rebooted ? afterReboot(record) : record",
    to: "record",
  },
  {
    law: "recovery",
    name: "leave out of the journal that is written anew what was being formatted",
    // No end of one process alone notices it: the next run still has it in memory, the one after it takes the disk for full.
    noticedBy: {
      scenario: "an empty device is formatted",
      crash: { effect: 10, moment: "torn", ending: "kill", next: { effect: 1, moment: "after", ending: "kill" } },
    },
    file: "src/agent/journal.ts",
    from: "      await file.replace(formatJournal(journal.#state()));\n",
    to: "      for (const [name, { formatting: _, ...record }] of records) records.set(name, record);\n      await file.replace(formatJournal({ ...journal.#state(), records }));\n",
  },
  {
    law: "L5",
    name: "forget to say that an intent has changed",
    file: "src/agent/desired-world.ts",
    from: "    this.touched.add(desired.name);\n",
    to: "",
  },
  {
    law: "L6",
    name: "forget which data directory is ours over a reboot",
    file: "src/agent/record.ts",
    from: ", ...(directory && { inode: directory.inode })",
    to: "",
  },
  {
    law: "rule 3",
    name: "write a status whatever the object has become",
    file: "src/kube/client.ts",
    from: "    ...(ref.uid !== undefined && { uid: ref.uid }),\n    ...(ref.resourceVersion !== undefined && { resourceVersion: ref.resourceVersion }),\n",
    to: "",
  },
  {
    law: "rule 3",
    name: "remove the finalizer without an acknowledgement",
    file: "src/controller/release.ts",
    from: "    (isReleased(status) ||",
    to: "    (true || isReleased(status) ||",
  },
  {
    law: "one leader",
    name: "take the lead from one that lives",
    file: "src/kube/decide-leadership.ts",
    from: "  return now >= endsAt ?",
    to: "  return now >= 0 ?",
  },
  {
    law: "secrets",
    name: "tell the log what is in a Secret",
    file: "src/plugins/staging.ts",
    from: "  await context.directories.writePayload(",
    to: "  context.progress(files.map(({ content }) => new TextDecoder().decode(content)).join());\n  await context.directories.writePayload(",
  },
  {
    law: "L1",
    name: "take down before the intents were read completely",
    noticedBy: { scenario: "an agent starts while the API server is away and a volume is to go" },
    file: "src/agent/choose.ts",
    from: "if (isRemoval(operation) && !input.synced) return false;",
    to: "",
  },
  {
    law: "L2",
    name: "forget that what is staged is in use",
    noticedBy: { scenario: "deleted while a container still has it mounted" },
    file: "src/agent/look.ts",
    from: "mounted || staged ||",
    to: "mounted ||",
  },
  {
    law: "L5",
    name: "overlook that a mount was taken away",
    noticedBy: { scenario: "suspended, and no longer" },
    file: "src/agent/target-steps.ts",
    from: 'if (target.truth === "mounted" || awaitsGroup(mount, desired, record)) return [];',
    to: 'if (target.drift === "Missing" || awaitsGroup(mount, desired, record)) return [];',
  },
  {
    law: "L7",
    name: "tear down what is not understood",
    noticedBy: { scenario: "a spec is not understood for a while" },
    file: "src/agent/decide.ts",
    from: "if (desired.deleting) return decideRelease",
    to: "if (desired.deleting || isInvalid(desired)) return decideRelease",
  },
  {
    law: "rule 22",
    name: "find a dead watch of Leases only after three minutes",
    noticedBy: { scenario: "every connection goes dead in silence, and no agent is taken for lost" },
    file: "src/controller/watches.ts",
    from: ", idleMs: leasesIdleMs }",
    to: " }",
  },
  {
    law: "L9",
    name: "mount over a foreign mount",
    noticedBy: { scenario: "a foreign mount over ours" },
    file: "src/agent/target-steps.ts",
    from: "if (target.problem !== undefined) {",
    to: 'if (target.problem?.reason === "TargetCovered") {',
  },
  {
    law: "L11",
    name: "format what is not empty",
    noticedBy: { scenario: "a device with data that is no file system" },
    file: "src/plugins/local-device.ts",
    from: "if (!device.empty",
    to: "if (false && !device.empty",
    also: { file: "test/sim/host/sim-devices.ts", from: "if (!device.empty && !goesOn) {", to: "if (false) {" },
  },
  ...csiMutations,
  ...indexMutations,
];
