import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { placeFile } from "../../../hack/lib/place-file.ts";

describe("placeFile", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "nodevolume-place-file-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("leaves the file alone, with its content and mode", () => {
    placeFile(join(folder, "main.cjs"), "new", 0o755);
    expect(readdirSync(folder)).to.deep.equal(["main.cjs"]);
    expect(readFileSync(join(folder, "main.cjs"), "utf8")).to.equal("new");
    expect(statSync(join(folder, "main.cjs")).mode & 0o777).to.equal(0o755);
  });

  it("does not meet what a process of the same pid writes in another PID namespace", () => {
    mkdirSync(join(folder, `main.cjs.${process.pid}.half`));
    placeFile(join(folder, "main.cjs"), "new");
    expect(readFileSync(join(folder, "main.cjs"), "utf8")).to.equal("new");
  });
});
