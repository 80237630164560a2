import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { Canaries } from "../../../hack/proof/steady/canaries.ts";
import { Outputs } from "../../../hack/proof/steady/outputs.ts";

const canaries = new Canaries("cnry0a1b2c3d");
const value = canaries.value(100);

describe("canaries in Secrets", () => {
  it("are values of the wanted length, others each time", () => {
    expect(value).to.have.length(100);
    expect(canaries.value(100, 5)).to.have.length(100).and.to.not.equal(value);
  });

  it("any 23 bytes of one are found, wherever they were cut", () => {
    for (let start = 0; start + 23 <= value.length; start += 1)
      expect(canaries.count(`password=${value.slice(start, start + 23)};`), `from ${start}`).to.be.above(0);
  });

  it("are found as base64, whatever stands before them, and as hex", () => {
    for (const before of ["", "u", "us", "use", "user:"]) {
      const bytes = Buffer.from(`${before}${value}`);
      expect(canaries.count(bytes.toString("base64")), `base64 after "${before}"`).to.be.above(0);
      expect(canaries.count(bytes.toString("hex")), "hex").to.be.above(0);
    }
  });

  it("nothing else is taken for one", () => {
    const other = new Canaries("cnry99999999").value(500);
    expect(canaries.count(other + Buffer.from(other).toString("base64"))).to.equal(0);
  });

  it("are counted once where an output brings one in two parts", () => {
    const outputs = new Outputs(canaries);
    const text = `before ${canaries.value(12)} after`;
    for (const letter of text) outputs.next("log", letter);
    expect(outputs.figures()).to.deep.equal([{ where: "log", bytes: text.length, canaries: 1 }]);
  });

  it("are found in files, and in the arguments of processes", () => {
    const outputs = new Outputs(canaries);
    const directory = mkdtempSync(`${tmpdir()}/nvo-canaries-`);
    writeFileSync(`${directory}/journal`, `{"password":"${canaries.value(12)}"}`);
    outputs.files("state", directory);
    rmSync(directory, { recursive: true });
    outputs.arguments();
    const found = Object.fromEntries(outputs.figures().map((it) => [it.where, it.canaries]));
    expect(found).to.deep.equal({ state: 1, argv: 0 });
  });
});
