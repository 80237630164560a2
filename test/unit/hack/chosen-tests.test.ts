import { expect } from "chai";
import Mocha, { type Suite } from "mocha";
import { keepForSecondTry, leaveOut, type Wanted } from "../../../hack/lib/lanes/chosen-tests.ts";

/** A suite of stories: what stands in brackets is a suite. */
function stories(): Suite {
  const { suite: root } = new Mocha();
  const add = (parent: Suite, title: string, ...tests: readonly string[]) => {
    const suite = Mocha.Suite.create(parent, title);
    for (const name of tests) suite.addTest(new Mocha.Test(name, () => undefined));
    return suite;
  };
  add(add(root, "first", "a", "b", "c"), "inner", "d", "e");
  add(root, "second", "a", "b");
  return root;
}

function titles(root: Suite): string[] {
  const all: string[] = [];
  root.eachTest((test) => void all.push(test.fullTitle()));
  return all;
}

function kept(wanted: Partial<Wanted>): string[] {
  const root = stories();
  keepForSecondTry(root, { tests: [], suites: [], ...wanted });
  return titles(root);
}

describe("chosen tests", () => {
  it("leaveOut takes tests out at every depth, and gives them back", () => {
    const root = stories();
    const left = leaveOut(root, (test) => ["b", "d"].includes(test.title));
    expect(left.map((test) => test.fullTitle())).to.deep.equal(["first b", "first inner d", "second b"]);
    expect(titles(root)).to.deep.equal(["first a", "first c", "first inner e", "second a"]);
  });

  it("a second try has what stands before a test in its outermost suite, and nothing else", () => {
    expect(kept({ tests: ["first b"] })).to.deep.equal(["first a", "first b"]);
    expect(kept({ tests: ["first inner d"] })).to.deep.equal(["first a", "first b", "first c", "first inner d"]);
    expect(kept({ tests: ["first a", "second a"] })).to.deep.equal(["first a", "second a"]);
  });

  it("a second try of a hook has its whole suite", () => {
    const all = ["first a", "first b", "first c", "first inner d", "first inner e"];
    expect(kept({ suites: ["first"] })).to.deep.equal(all);
    expect(kept({ suites: ["first inner"] })).to.deep.equal(all);
  });
});
