import { join } from "node:path";
import { expect } from "chai";
import { privateWordsIn } from "../../../hack/lib/prose/private-words.ts";
import { root } from "../../../hack/lib/root.ts";
import { reasons } from "../../../src/api/reasons.ts";
import { knownMessages } from "../../../src/explain/why/known-messages.ts";
import { type WhyMessage, type WhyReason, type WhyTable, whyTable } from "../../../src/explain/why/why-table.ts";
import { messages } from "./messages.ts";

interface Answer {
  readonly by: "code" | "message" | "words";
  readonly reason?: WhyReason;
  readonly message?: WhyMessage;
}

/** The page is JavaScript: tsc checks it in its own project. */
const { createFinder, keyOf, longestText, namesIn } = (await import(join(root, "src/page/why.js"))) as {
  createFinder(table: WhyTable): (text: string) => readonly Answer[];
  keyOf(answer: Answer): string;
  longestText: number;
  namesIn(text: string): string[];
};

const table = whyTable();
const find = createFinder(table);
const keys = (text: string) => find(text).map(keyOf);

describe("why is it stuck", () => {
  for (const [first, text] of messages)
    it(`${first}: ${text.replace(/\s+/g, " ").slice(0, 90)}`, () => {
      expect(keys(text)[0], keys(text).join(", ")).to.equal(first);
    });

  it("finds each reason by its code, and each known message by its id", () => {
    for (const code of Object.keys(reasons)) expect(keys(code), code).to.deep.equal([code]);
    for (const { id } of knownMessages) expect(keys(id), id).to.deep.equal([id]);
  });

  it("has for each reason that needs an action what it means and what to do", () => {
    const bare = table.reasons.filter(({ kind, text, step }) => text === "" || (kind !== "normal" && step === ""));
    expect(bare.map(({ code }) => code)).to.deep.equal([]);
  });

  it("leaves out what only repeats that something failed, unless there is nothing else", () => {
    const text =
      'FailedMount MountVolume.SetUp failed for volume "a" : mount failed: exit status 32: Stale file handle';
    expect(keys(text)).to.deep.equal(["stale-handle"]);
    expect(keys(text.replace(/: Stale.*/, ""))[0]).to.equal("mount-failed");
  });

  it("takes an English word for no code", () => {
    expect(keys("Mounted by hand, Conflict with myself")[0]).not.to.equal("Mounted");
    expect(keys('Events: Warning FailedMount secret "a" not found. Status: Released')[0]).to.equal("secret-missing");
  });

  it("finds nothing in nothing, in noise and in what is nobody's message", () => {
    for (const text of ["", "  \n", "qwertz uiop", "????", "</b>"]) expect(keys(text), text).to.deep.equal([]);
  });

  it("answers in a moment, whatever it is given", () => {
    const long = [
      "a ",
      "nodes ",
      '"x',
      "0/",
      "dial unix ",
      "persistentvolumeclaim ",
      "operation ",
      "mount.nfs: ",
      "chown a",
    ];
    for (const part of long) find(part.repeat(longestText));
    expect(keys(`${"x ".repeat(longestText)} SourceNotFound`)).to.deep.equal([]);
  });
});

describe("knownMessages", () => {
  it("have an id each that may stand in an address, and is no code", () => {
    const ids = knownMessages.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^[a-z]+(-[a-z]+)*$/);
    const codes = new Set(Object.keys(reasons).map((code) => code.toLowerCase()));
    expect(ids.filter((id) => codes.has(id))).to.deep.equal([]);
  });

  it("are short, in the field's words, and have a source", () => {
    for (const { id, title, cause, check, step, source } of knownMessages) {
      expect(title, id).to.match(/^[A-Za-z][^.]{5,70}$/);
      for (const text of [cause, check, step]) expect(text.length, text).to.be.within(10, 170);
      for (const text of [cause, step]) expect(text, id).to.match(/^[A-Za-z].*\.$/);
      expect([title, cause, check, step].flatMap(privateWordsIn), id).to.deep.equal([]);
      expect(source, id).not.to.equal("");
    }
  });
});

describe("namesIn", () => {
  it("are those that may be of objects, with the parts of paths and of namespaced names", () => {
    const text =
      'MountVolume.SetUp failed for volume "pvc-1" in pod shop/web-0 on node worker-5.example: /var/lib/kubelet/pods/5322240f-db87/volumes';
    expect(namesIn(text)).to.include.members(["pvc-1", "shop", "web-0", "worker-5.example", "5322240f-db87"]);
    expect(namesIn(text)).not.to.include.members(["volume"]);
    expect(namesIn("Ready WORKER <b>x</b> ßß")).to.deep.equal([]);
  });
});
