import { writeFileSync } from "node:fs";
import { need } from "../asserts/requirements.ts";
import { RealNode } from "./real-node.ts";

/** Gives each test of a suite a node of its own with a file in `src`, which is gone afterwards. */
export function withNode(use: (node: RealNode) => void): void {
  let node: RealNode | undefined;
  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    node = new RealNode();
    writeFileSync(`${node.path}/src/here`, "");
    use(node);
  });
  afterEach(async () => {
    await node?.[Symbol.asyncDispose]();
  });
}
