import { readFileSync, statSync } from "node:fs";
import { expect } from "chai";
import { ContractRegistry, tarOf } from "../lib/contract-registry.ts";
import type { Case } from "./case.ts";

/** From what stands for a registry (ContractRegistry). */
export const imageCase: Case = {
  title: "image",
  async source(node) {
    const registry = node.keep(new ContractRegistry());
    await registry.listen();
    const layer = registry.layer(tarOf({ name: "bin/run", content: "value", mode: 0o755, uid: 1000 }));
    return { image: { reference: registry.reference(registry.image(layer)) } };
  },
  shows(path) {
    expect(readFileSync(`${path}/bin/run`, "utf8")).to.equal("value");
    const { mode, uid } = statSync(`${path}/bin/run`);
    expect([mode & 0o7777, uid]).to.deep.equal([0o755, 1000]);
  },
  keepsData: false,
  parts: () => ({ client: "the agent", server: "ContractRegistry, which is no registry" }),
  readOnly: true,
};
