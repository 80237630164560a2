import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import type { VolumeSource } from "../../../src/api/types.gen.ts";
import type { Case } from "../case.ts";

export const mergedCase: Case = {
  title: "merged, the example of docs/plugin-guide.md",
  needs: ["overlay"],
  withoutSchema: true,
  source(node) {
    const paths = ["first", "second"].map((name) => `${node.path}/src/${name}`);
    for (const path of paths) {
      mkdirSync(path);
      writeFileSync(`${path}/who`, path);
      writeFileSync(`${path}/of-${path.split("/").at(-1)}`, "");
    }
    return { merged: { paths } } as VolumeSource;
  },
  shows(path) {
    expect(readFileSync(`${path}/who`, "utf8")).to.match(/first$/);
    expect(readFileSync(`${path}/of-second`, "utf8")).to.equal("");
  },
  keepsData: true,
  readOnly: true,
  cutOffs: "some",
  table: { fsType: "overlay", source: /^nodevolume-/, options: [/^lowerdir=.*first:.*second$/] },
};
