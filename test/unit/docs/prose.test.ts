import { expect } from "chai";
import { checkProse, sentencesOf } from "../../../hack/lib/prose/check-prose.ts";
import { hiddenSubjectOf, privateWordsIn } from "../../../hack/lib/prose/private-words.ts";
import { pages, readPage } from "../../lib/docs/blocks.ts";

describe("prose of the documentation", () => {
  for (const page of [...pages(), "CONTRIBUTING.md", "MAINTAINERS.md", "SECURITY.md"])
    it(`of ${page} has short sentences, lines that fit, and words that a reader would search for`, () => {
      expect(checkProse(page, readPage(page))).to.deep.equal([]);
    });
});

describe("checkProse", () => {
  const words = (count: number) => `One ${"two ".repeat(count - 2)}end.`;

  it("finds sentences of more than 30 words, over the lines of a paragraph or an item", () => {
    expect(checkProse("x.md", `${words(30)}\n${words(30)}\n`)).to.have.length(0);
    expect(checkProse("x.md", `A.\n\n- ${words(15)}\n  ${words(16)}\n`)).to.have.length(0);
    const long = `- ${words(15).replace("end.", "and")}\n  ${words(16).toLowerCase()}\n`;
    expect(checkProse("x.md", `A.\n\n${long}`).join("\n")).to.match(/^x\.md:3: a sentence of 31 words: One two.*…$/);
  });

  it("takes code, or a list of it, for one word, a link for its text, and a colon for no end", () => {
    expect(checkProse("x.md", `\`a\`, \`b\`, \`c\`/\`d\` ${words(29).toLowerCase()}\n`)).to.deep.equal([]);
    expect(checkProse("x.md", `\`${words(20)}\`\n[a](b#${"c".repeat(20)}) ${words(28).toLowerCase()}\n`)).to.deep.equal(
      [],
    );
    expect(checkProse("x.md", `\`a. B\`\n[a](b) ${words(29).toLowerCase()}\n`)).to.have.length(1);
    expect(checkProse("x.md", `${words(16).replace("end.", "end:")}\n${words(16)}\n`)).to.have.length(1);
  });

  it("finds lines of more than 160 columns, in code, too, but for output and comments for the tests", () => {
    const long = "x".repeat(161);
    expect(checkProse("x.md", `${long}\n`)).to.deep.equal([`x.md:1: 161 columns: ${"x".repeat(90)}…`]);
    expect(checkProse("x.md", `\`\`\`yaml\n${long}\n\`\`\`\n`)).to.have.length(1);
    expect(checkProse("x.md", `<!-- before: ${long} -->\n\`\`\`console\n$ ${long}\n\`\`\`\n`)).to.have.length(0);
  });

  it("lets a row of a table be longer, if no cell is as it is shown", () => {
    const cell = "x".repeat(150);
    expect(checkProse("x.md", `| ${cell} | [${cell}](${cell}) |\n`)).to.have.length(0);
    expect(checkProse("x.md", `| a | ${cell}${cell} |\n`)).to.have.length(1);
    expect(checkProse("x.md", `| a | ${cell}<br>${cell} |\n`)).to.have.length(0);
  });

  it("finds private words in tables and headings, and none in code", () => {
    expect(checkProse("x.md", "| a<br>says<br>b |\n")).to.have.length(1);
    expect(checkProse("x.md", "# What it says\n| What | it tells |\n\n`says`\n```sh\nsays\n```\n")).to.have.length(2);
  });
});

describe("sentencesOf", () => {
  it("ends one at a full stop, a question or an exclamation mark, and at no abbreviation", () => {
    expect(sentencesOf('One, e.g. Two. "Three?" Four 1.2 five! (Six.) seven')).to.deep.equal([
      "One, e.g. Two.",
      "Three?",
      "Four 1.2 five!",
      "Six.",
      "seven",
    ]);
  });
});

/** Sentences of this project as they were, and as a native reader would have them. */
const examples: readonly (readonly [string, string])[] = [
  [
    "What must be mounted on every Kubernetes node, whether it is, and if not why not: as declarative objects.",
    "Declare which volumes must be mounted on each Kubernetes node, and see whether they are, and if not, why.",
  ],
  [
    "Somebody unmounts it: it is back within milliseconds, and an event says so.",
    "If someone unmounts it, it is remounted within milliseconds and an Event is recorded.",
  ],
  [
    "It cannot be mounted: one reason, since when, what would end the wait, and when it is tried again.",
    "If it cannot be mounted, the status gives a reason, since when, what would resolve it, and the time of the next retry.",
  ],
  [
    "The CRDs ask for a word of their own, for with them everything on every node would be unmounted.",
    "Deleting the CRDs requires an explicit confirmation, because it would unmount every volume on every node.",
  ],
  ["A claim that pods use is not taken from them.", "A PVC in use by pods is never reassigned."],
  ["`-- --help` says the rest.", "See `-- --help` for all options."],
  [
    "Whatever ends it, also `kill -9`, leaves no process, mount, loop device or file.",
    "However it ends, even with `kill -9`, it leaves no processes, mounts, loop devices or files behind.",
  ],
  ["nothing of the volume is left on this node", "the volume has been fully unmounted and cleaned up on this node"],
  ["the source is looked at", "checking the source"],
  ["10.0.0.5 at data is not to be had: no route to host", "server 10.0.0.5 is unreachable: no route to host"],
  [
    "process 4711, which was given up, does not end: the kernel waits for …",
    "abandoned process 4711 has not exited: it is blocked in the kernel waiting for …",
  ],
  [
    "claim ns/data is not used, as a pod that names it would be admitted beside: …",
    "not using PVC ns/data: a pod that references it could be admitted at the same time: …",
  ],
  [
    "no intent of this node names pod a/b for set x yet: the Events of the pod say if it may not have it",
    "pod a/b is not in any NodeVolumeIntent of this node yet; if access was denied, see the pod's Events",
  ],
  ["is one too many: a pod gets 64 node volumes", "exceeds the limit of 64 node volumes per pod"],
  [
    "plans were out of date, and nothing had told so: please report this",
    "plans were stale, and no changed input explains it; they are corrected now: please report this bug",
  ],
  [
    "what a volume waits for cannot be heard: it is tried again after a while",
    "cannot watch for the change this volume is waiting for; falling back to periodic retries",
  ],
  ["volume not brought on", "failed to advance volume"],
  ["mounts had changed and the kernel had not told", "mount table changed without a kernel notification"],
  ["this agent does not have the node yet", "waiting to acquire the node lock held by another agent process"],
  ["wait until it is so", "wait until the condition is met"],
  ["0 only looks", "0 checks once without waiting"],
  [
    "Most that is fetched, and most that the files that are shown may have, in bytes or as a quantity.",
    "Maximum download size, and maximum total size of the resulting files (bytes or a Kubernetes quantity).",
  ],
  [
    "the node that fails is mended, or the set is changed",
    "the failing node is repaired, or the NodeVolumeSet is changed",
  ],
  [
    "Whoever would begin does not, unless it is certain that it may.",
    "Do not start an attach unless we know it is allowed.",
  ],
  [
    "One pod must not make the volume of all others not ready, with whom nothing is wrong.",
    "A failing pod mount must not mark the whole volume not ready for healthy pods.",
  ],
];

describe("privateWordsIn and hiddenSubjectOf", () => {
  const faults = (sentence: string) => [...privateWordsIn(sentence), ...hiddenSubjectOf(sentence)];

  for (const [before, after] of examples)
    it(`finds what is foreign in ${JSON.stringify(before)}, and nothing in its idiomatic twin`, () => {
      expect(faults(before)).not.to.have.length(0);
      expect(faults(after)).to.deep.equal([]);
    });

  it("lets a question begin as questions do", () => {
    expect(hiddenSubjectOf("What is mounted on node-1?")).to.deep.equal([]);
  });
});
