import { secretOfVM } from "../../contract/ceph-kernel-cases.ts";
import { need } from "../asserts/requirements.ts";
import { RealNode } from "../kernel/real-node.ts";

/**
 * Hooks of a suite in the VM: each test has a node whose Secret is that of the cluster.
 * @param begin has each of them
 * @param giveBack what a node has left to the one kernel, in this order, whatever fails
 * @returns ends the node of a test, and begins another
 */
export function eachOnCephNode(begin: (node: RealNode) => void, ...giveBack: readonly (() => void)[]) {
  let node: RealNode;
  const next = () => {
    node = new RealNode();
    node.contents.set("ceph", secretOfVM());
    begin(node);
  };
  before(function () {
    need(this, "ceph-cluster");
  });
  beforeEach(next);
  afterEach(async () => {
    using all = new DisposableStack(); // from the last to the first
    for (const each of giveBack.toReversed()) all.defer(each);
    await node[Symbol.asyncDispose]();
  });
  return async () => {
    await node[Symbol.asyncDispose]();
    next();
  };
}
