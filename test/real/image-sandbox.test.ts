import { readlinkSync } from "node:fs";
import { expect } from "chai";
import { IntrudedChild } from "../lib/kernel/agents/intruded-child.ts";
import { withEach } from "../lib/kernel/with-node.ts";

describe("somebody who runs code in the child that unpacks an image, on the real kernel", function () {
  this.timeout(60_000); // on machines that have others at work
  let child: IntrudedChild;

  withEach(IntrudedChild, [], (made) => {
    child = made;
  });

  it("reads and writes no file of the node, and none of its kernel or its disks", () => {
    const readOnly = ["/usr/bin/env", "/proc/self/oom_score_adj", `/node${child.layout}/index.json`];
    const intruded = child.intrude("unpack", [...child.ofNode, ...readOnly]);
    child.expectNothingOfTheNode(intruded, child.ofNode, readOnly);
    expect(intruded.processes).to.deep.equal(["self"]);
    expect(intruded.heapMiB, "what Node may take, without the container's limit in sight").to.be.lessThan(400);
    expect(intruded.layout).to.equal("of the layout");
  });

  it("starts no program, and does nothing to other processes of its user", () => {
    const { parent, program, ipc } = child.intrude("unpack", []);
    const { itself, ...others } = parent;
    expect(Object.entries(others).filter(([, came]) => came !== "EPERM")).to.deep.equal([]);
    expect(itself).to.equal("succeeded");
    expect(program).to.equal("EPERM");
    expect(ipc).to.match(/^ipc:/);
    expect(ipc, "objects of System V").to.not.equal(readlinkSync("/proc/self/ns/ipc"));
  });
});
