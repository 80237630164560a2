import { type Seed, seedsOf } from "./seed.ts";

/** The journal: what survives a crash, a reboot and damage. */
export const ofJournal: readonly Seed[] = [
  ...seedsOf("journal", "src/agent/journal/journal-format.ts", [
    [
      "cannot be read for ever once a line is damaged",
      "    if (entry === undefined) damaged++;\n",
      '    if (entry === undefined) throw new Error("a line is damaged");\n',
      {
        kubelet: "#108217 #85280: with a vol_data.json that is empty a volume can never be unmounted",
        test: "test/unit/agent/journal/journal-format.test.ts",
      },
    ],
    [
      "believes a line that was damaged",
      "  const json = raw.slice(9);\n",
      '  const json = raw.slice(9);\n  if (json.endsWith("}}")) return JSON.parse(json) as Entry;\n',
    ],
    [
      "takes a damaged end for a line that was cut off",
      "if (parseLine(last.slice(0, -1)) !== undefined) {",
      "if (false) {",
    ],
    [
      "remembers what it was to forget",
      'else if ("forget" in entry) records.delete(entry.forget);',
      'else if ("forget" in entry) records.has(entry.forget);',
    ],
    [
      "keeps the first word on a volume, not the last",
      "records.set(entry.put.name, entry.put);",
      "records.has(entry.put.name) || records.set(entry.put.name, entry.put);",
    ],
    [
      "reads what a newer agent has written in another way",
      "else if (entry.journal !== formatVersion) {",
      "else if (entry.journal === undefined) {",
    ],
    ["forgets what is being removed when it writes the journal anew", "...lines, ...reaping].join", "...lines].join"],
    [
      "takes the end of a removal for its beginning",
      'else if ("reaped" in entry) reaps.delete(entry.reaped);',
      'else if ("reaped" in entry) reaps.has(entry.reaped);',
    ],
  ]),
  ...seedsOf("journal", "src/agent/journal/journal.ts", [
    [
      "takes a journal without a header for one of before a reboot",
      "before.bootID !== undefined && before.bootID !== bootID;",
      "before.bootID !== bootID;",
    ],
    [
      "takes a damaged journal for a whole one",
      "(before.bootID === undefined || before.damaged > 0)",
      "before.bootID === undefined",
    ],
    [
      "forgets at the second start that something was lost",
      "!rebooted && (lost || before.lostIn === bootID) ?",
      "!rebooted && lost ?",
    ],
    ["begins no new epoch", "epoch: before.epoch + 1, lostIn", "epoch: before.epoch, lostIn"],
    ["leaves half a line, and writes on behind it", "      await file.replace(formatJournal(journal.#state()));\n", ""],
    ["writes on behind a write that failed", "      this.#torn = true;\n", ""],
    [
      "believes what could not be written",
      "if (error === undefined) for (const { change } of batch)",
      "for (const { change } of batch)",
    ],
    [
      "never writes the journal anew: it grows for ever",
      "reaped || (this.#lines >= compactAfter && this.#lines >= 4 * this.#records.size);",
      "reaped;",
    ],
    [
      "loses the newest change when it writes the journal anew",
      "          else setOrDelete(records, change.name, change.record);\n",
      "",
    ],
    [
      "keeps no copy of a journal that is damaged",
      "  if (damaged === 0) return undefined;\n",
      "  if (damaged >= 0) return undefined;\n",
    ],
    ["goes on removing what kubelet had left before a reboot", "rebooted ? new Map() : before.reaps;", "before.reaps;"],
    [
      "says that it is written when it is not",
      "for (const entry of batch) entry.done(error);",
      "for (const entry of batch) entry.done();",
    ],
    ["does not know of children after a start", "    setOrDelete(this.#children, name, record?.child);\n", ""],
    ["does not count writes that failed", "      this.failures++;\n", ""],
  ]),
  ...seedsOf("journal", "src/agent/model/volume-record.ts", [
    [
      "has a target twice",
      "targets: [...record.targets.filter((t) => t.path !== target.path), target]",
      "targets: [...record.targets, target]",
    ],
    [
      "keeps the pod and the mount of a target over a reboot",
      "  return { ...target, identity: nothingShown, ...again };\n",
      "  return { ...record, ...target, identity: record.identity, ...again };\n",
    ],
    [
      "waits after a reboot for a call of before",
      "csi: { ...stage.csi, shown: [], calls: {} }",
      "csi: { ...stage.csi, shown: [] }",
    ],
    [
      "takes what a driver had shown before a reboot for what is shown",
      "csi: { ...stage.csi, shown: [], calls: {} }",
      "csi: { ...stage.csi, calls: {} }",
    ],
    [
      "forgets over a reboot what is to be undone",
      ' || stage?.kind === "filesystem" || stage?.undo !== undefined;',
      ' || stage?.kind === "filesystem";',
    ],
    [
      "waits after a reboot for a child of before",
      "const { stage, child: _gone, copies: _ended, attachmentsAsked: _old, ...rest } = record;",
      "const { stage, copies: _ended, attachmentsAsked: _old, ...rest } = record;",
    ],
  ]),
  ...seedsOf("journal", "src/agent/journal/open-journal.ts", [
    [
      "goes on without a journal after the first failure",
      "    await pause(system, retryMs, signal);\n",
      "    return undefined;\n",
    ],
  ]),
];
