import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";

const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const [head = ""] = textOf("docs/proof.md").split("\n## ");

describe("docs/proof.md", () => {
  const rows = head
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1)
    .map((line) => line.split(" | "));

  it("has a date and a commit in each row, or says that it is of before", () => {
    expect(rows).to.not.be.empty;
    for (const [figure, , , last = ""] of rows) {
      const dated = /\b20\d\d-\d\d-\d\d, [0-9a-f]{8}\b/.test(last);
      expect(dated || last.startsWith("of before"), `${figure?.slice(0, 60)}…: ${last}`).to.equal(true);
    }
  });

  it("and CHANGELOG have as many requests as docs/authorization-matrix.md", () => {
    const requests = (text: string) => /([\d,]+) requests (?:of \d+ identities|to a real)/.exec(text)?.[1];
    const asked = requests(textOf("docs/authorization-matrix.md"));
    expect(asked).to.be.a("string");
    expect(requests(head)).to.equal(asked);
    expect(/server answers ([\d,]+) requests/.exec(textOf("CHANGELOG.md"))?.[1]).to.equal(asked);
  });
});
