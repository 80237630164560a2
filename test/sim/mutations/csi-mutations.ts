import type { Mutation } from "./list.ts";

/** Ways to break what is done with volumes of CSI drivers. */
export const csiMutations: readonly Mutation[] = [
  {
    law: "rule 3",
    name: "detach without an acknowledgement",
    noticedBy: { scenario: "detach waits for the acknowledgement" },
    file: "src/controller/release-intent.ts",
    from: "  if (!first.release) return first;\n",
    to: "",
    also: {
      file: "src/controller/release-intent.ts",
      from: "  if (!decision.release) return decision;\n",
      to: "  if (!decision.release && attachment === undefined) return decision;\n",
    },
  },
  {
    law: "L3",
    name: "unstage what a driver still publishes",
    noticedBy: { scenario: "a CSI volume that needs no attachment" },
    file: "src/agent/csi/release.ts",
    from: "  await takeBack(context, volume, target);\n",
    to: "",
    also: { file: "src/agent/csi/release.ts", from: "  await takeBackStray(context, volume);\n", to: "" },
  },
  {
    law: "journal before effect",
    name: "have a driver stage first, write it down afterwards",
    noticedBy: { scenario: "a CSI volume that needs no attachment" },
    file: "src/agent/csi/driver-call.ts",
    from: "  await journal.put(withCalls(before, sending(stage.csi.calls)));\n",
    to: "",
    also: { file: "src/agent/csi/stage.ts", from: "  await journal.put(asked);\n", to: "" },
  },
  {
    law: "rule 8",
    name: "release while a call that timed out may take effect",
    noticedBy: { scenario: "a call of a CSI driver that timed out takes effect, after the volume is to go" },
    file: "src/agent/csi/calls.ts",
    from: "  if (sent === true) return deadlineMs;\n",
    to: "  return 0;\n",
  },
  {
    law: "rule 2",
    name: "grant a single-node volume beside one who has it",
    noticedBy: { scenario: "a single-node claim moves to another node, with what is in it" },
    file: "src/controller/attach/access.ts",
    from: '  return mode === "ReadWriteOnce" || mode === "ReadWriteOncePod";\n',
    to: "  return mode.length === 0;\n",
  },
  {
    law: "rule 1",
    name: "grant without a word of it on the attachment",
    noticedBy: { scenario: "a bound claim" },
    file: "src/controller/attach/write-grant.ts",
    from: "attachment && (await annotate(deps, attachment, id));",
    to: "attachment;",
  },
  {
    law: "secrets",
    name: "repeat what a driver says of its secrets",
    noticedBy: { scenario: "a CSI volume with secrets, which the driver repeats" },
    file: "src/csi/driver-error.ts",
    from: "  const said = redact(text, secrets).trim();\n",
    to: "  const said = text.trim() + redact('', secrets);\n",
  },
];
