import { expect } from "chai";
import { byUnitTests, unitTestsOf } from "../../mutants/by-unit.ts";

const file = "src/agent/journal/journal-format.ts";
const tests = ["test/unit/agent/journal/journal-format.test.ts"];

describe("unit tests of a product with a fault", function () {
  this.timeout(60_000);

  it("notice it, and say by which test", async () => {
    const broken = { file, from: "if (entry === undefined) damaged++;", to: "if (entry === undefined) damaged--;" };
    const { noticed, what, test } = await byUnitTests([broken], tests);
    expect(noticed, what).to.equal(true);
    expect(test).to.equal(tests[0]);
    expect(what).to.include("damaged");
  });

  it("notice nothing where there is none", async () => {
    expect((await byUnitTests([], tests)).noticed).to.equal(false);
  });

  it("are not taken for having noticed what is no program", async () => {
    const broken = { file, from: "export function formatJournal(", to: "export function (" };
    const error = await byUnitTests([broken], tests).catch((caught: unknown) => caught);
    expect(String(error)).to.include("could not be run");
  });

  it("are not run with a text that is not there", async () => {
    const error = await byUnitTests([{ file, from: "not there", to: "" }], tests).catch((caught: unknown) => caught);
    expect(String(error)).to.include(`${file} has this text 0 times`);
  });

  it("are those of the room, of the file itself first", () => {
    const { near, far } = unitTestsOf("src/agent/model/csi-call-record.ts");
    expect(near[0]).to.equal("test/unit/agent/model/csi-call-record.test.ts");
    expect(near).to.include("test/unit/agent/planner/plan.test.ts");
    expect(far[0]).to.match(/^test\/unit\/agent\/model\//);
    expect([...near, ...far].every((test) => test.startsWith("test/unit/agent/"))).to.equal(true);
  });
});
