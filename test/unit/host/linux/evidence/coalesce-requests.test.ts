import { expect } from "chai";
import { coalesceRequests, type Found } from "../../../../../src/host/linux/evidence/coalesce-requests.ts";
import { settle } from "../../../kube/virtual-system.ts";

/** A look that goes on until it is told what it finds. */
function story() {
  const looks: { questions: readonly number[]; end: (found: readonly Found<string>[] | Error) => void }[] = [];
  const ask = coalesceRequests<number, string>(
    (questions) =>
      new Promise((resolve, reject) => {
        looks.push({ questions, end: (found) => (found instanceof Error ? reject(found) : resolve(found)) });
      }),
  );
  const told: string[] = [];
  const asked = (question: number) =>
    void ask(question).then(
      (answer) => told.push(`${question}: ${answer}`),
      (error: Error) => told.push(`${question} failed: ${error.message}`),
    );
  const endLook = async (number: number, found: readonly Found<string>[] | Error) => {
    looks[number]?.end(found);
    await settle();
  };
  return { asked, looks, told, endLook, questions: () => looks.map((look) => look.questions) };
}

describe("coalesceRequests", () => {
  it("looks at once for the first, and once more for all that asked meanwhile: no answer is older than its question", async () => {
    const { asked, told, endLook, questions } = story();
    for (const question of [1, 2, 3]) asked(question);
    expect(questions()).to.deep.equal([[1]]);
    await endLook(0, [{ answer: "a" }]);
    expect(told).to.deep.equal(["1: a"]);
    expect(questions()).to.deep.equal([[1], [2, 3]]);
    asked(4);
    await endLook(1, [{ answer: "b" }, { answer: "c" }]);
    expect(told).to.deep.equal(["1: a", "2: b", "3: c"]);
    expect(questions().at(-1)).to.deep.equal([4]);
    await endLook(2, [{ answer: "d" }]);
    asked(5);
    expect(questions().at(-1)).to.deep.equal([5]);
  });

  it("fails one question by its own error, and all by that of the look", async () => {
    const { asked, told, endLook } = story();
    for (const question of [1, 2, 3]) asked(question);
    await endLook(0, new Error("unreadable"));
    await endLook(1, [{ error: new Error("too many") }, { answer: "c" }]);
    expect(told).to.deep.equal(["1 failed: unreadable", "2 failed: too many", "3: c"]);
  });

  it("leaves nobody without an answer", async () => {
    const { asked, told, endLook } = story();
    asked(1);
    await endLook(0, []);
    expect(told).to.deep.equal(["1 failed: a look has left a question without an answer"]);
  });
});
