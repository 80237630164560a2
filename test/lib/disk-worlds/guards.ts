import type { Edit } from "../../sim/mutations/mutation.ts";
import type { Focus } from "./focus.ts";

/** What keeps other people's disks from harm, one thing each, and how it is taken away. */
export interface Guard {
  readonly name: string;
  /** Worlds that are about it: a few of them show harm without it. */
  readonly focus: Focus;
  readonly edits: readonly Edit[];
}

const edit = (file: string, from: string, to: string): Edit => ({ file: `src/${file}.ts`, from, to });
const secondNames = [
  edit("host/linux/device/device-users", "if (aliased !== undefined) return {", "if (false) return {"),
  // It would be refused as a user of what it is made of.
  edit("host/linux/device/device-users", "except: names })", "except: [...names, basename(path)] })"),
];

export const guards: readonly Guard[] = [
  {
    name: "processes that have it open or mapped",
    focus: { troubles: ["open"], naming: "device" },
    edits: [
      edit(
        "host/linux/device/device-users",
        "const open = openersOf(libc, numbers, process.pid, remote, process.ppid);",
        "const open = openersOf(libc, numbers, process.pid, remote, process.ppid).slice(0, 0);",
      ),
    ],
  },
  {
    name: "exclusive opens, which mounts in other namespaces refuse",
    focus: { troubles: ["mount where nobody sees it"], naming: "device", disks: ["filled", "filled"], content: "ext3" },
    edits: [
      edit("host/linux/device/block-probe", "closeSync(openSync(path, constants.O_RDONLY | constants.O_EXCL));", ""),
      edit("host/linux/device/device-writes", "if (!exclusive) closeSync(", "if (false) closeSync("),
      edit(
        "host/linux/device/device-writes",
        "constants.O_RDWR | constants.O_EXCL, refuseUsed",
        "constants.O_RDWR, refuseUsed",
      ),
    ],
  },
  {
    name: "loop devices on it",
    focus: { troubles: ["make a loop device"], naming: "device" },
    edits: [
      edit(
        "host/linux/device/device-users",
        "const loops = deviceNumbers.flatMap((number) => loopsOn(number, path));",
        "const loops: string[] = [];",
      ),
    ],
  },
  {
    name: "that its node was given to somebody",
    focus: { troubles: ["publish its node"], naming: "device" },
    edits: [edit("host/linux/device/published-nodes", "/^(devtmpfs|tmpfs)$/.test(fsType)", "false")],
  },
  {
    name: "what stands beyond both ends of it",
    focus: { troubles: ["write"], naming: "device" },
    edits: [
      edit("host/linux/device/sampled-regions", "  if (sizeBytes <= whole) return [{ from: 0, to: sizeBytes }];\n", ""),
      edit("host/linux/device/sampled-regions", "...ofEnds, ...places, ...bounds, ...sampled]", "...ofEnds]"),
    ],
  },
  {
    name: "who has it, asked once more on the descriptor",
    focus: { troubles: ["open"], before: ["format", "wipe"], naming: "device" },
    edits: [
      edit("host/linux/device/device-writes", "    refuseUsed({ path, deviceNumber, claimed: false });\n", ""),
      edit(
        "host/linux/device/device-writes",
        "    // Who has opened it while it was read, for seconds perhaps, writes where that was read already.\n    refuseUsed({ ...device, claimed: false });\n",
        "",
      ),
    ],
  },
  {
    name: "what stands there, asked once more on the descriptor",
    focus: { troubles: ["write"], before: ["exec", "format"], naming: "device" },
    edits: [edit("host/linux/device/device-writes", "if (readContents(fd).digest !== contents) {", "if (false) {")],
  },
  {
    name: "which disk it is, asked once more on the descriptor",
    focus: {
      troubles: ["attach a disk", "swap devices"],
      ...{ before: ["plan", "format"], naming: "fields", disks: ["empty"], mkfs: "ends" },
    },
    edits: [edit("host/linux/device/device-writes", "    prove(fd, device);\n", "")],
  },
  {
    name: "who has it, asked once more before it is mounted",
    focus: { troubles: ["open"], before: ["mountFilesystem"], naming: "device" },
    edits: [edit("plugins/local/local-device", ", options, device: probedDevice(device) };", ", options };")],
  },
  {
    name: "that only what is as it was when it was named may be destroyed",
    focus: { troubles: ["write to what has data"], before: ["exec", "wipe"], naming: "device" },
    edits: [edit("host/linux/device/device-writes", "if (found.digest !== digest) {", "if (false) {")],
  },
  {
    name: "that an mkfs that ended by itself leaves no licence",
    focus: { troubles: ["write"], before: ["plan"], naming: "device", mkfs: "ends" },
    edits: [
      edit(
        "plugins/local/local-device",
        "if (begun === undefined || endedByItself(error) || isSomebodys(error)) return undefined;",
        "return device.identity;",
      ),
    ],
  },
  {
    name: "that an empty disk was there when the volume was first looked for",
    focus: { troubles: ["attach a disk"], naming: "fields", disks: ["filled", "filled"] },
    edits: [
      edit(
        "plugins/api/disk-choice",
        "if (name !== undefined && seen.includes(name)) return undefined;",
        "return undefined;",
      ),
    ],
  },
  {
    name: "that a loop device on a disk is no disk, nor a name of it",
    focus: { troubles: ["make a loop device"], before: ["plan"], naming: "fields", disks: ["filled", "empty"] },
    edits: [
      edit("host/linux/device/disks", "return beneath === undefined ? undefined", "return true ? undefined"),
      ...secondNames,
    ],
  },
  {
    name: "that a loop device on a disk is no name of it",
    focus: { troubles: ["open"], naming: "alias" },
    edits: secondNames,
  },
  {
    name: "that the licence of an mkfs that was cut off ends when somebody has the device",
    focus: {
      troubles: ["open a cut-off disk", "write by who has it open", "close"],
      ...{ naming: "device", mkfs: "halfway" },
    },
    edits: [
      edit(
        "plugins/local/local-device",
        'if (busy === undefined || context.formatting === undefined || context.unfinished === "header") return;',
        "return;",
      ),
    ],
  },
];
