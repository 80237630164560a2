import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";

const guide = readFileSync(join(root, "docs/plugin-guide.md"), "utf8");

describe("docs/plugin-guide.md", () => {
  it("shows the example as it is compiled and tried", () => {
    const shown = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);
    const files = ["merged.ts", "merged-case.ts"].map((name) => join(root, "test/contract/example-plugin", name));
    expect(shown).to.deep.equal(files.map((file) => readFileSync(file, "utf8")));
  });

  it("names no file that is not there", () => {
    const named = [...guide.matchAll(/`((?:src|test|docs|crds|config|hack)\/[\w./-]+)`/g)].map(([, path = ""]) => path);
    expect(named.length).to.be.above(15);
    expect(named.filter((path) => path !== "src/plugins/NAME.ts" && !existsSync(join(root, path)))).to.deep.equal([]);
  });
});
