import { expect } from "chai";
import { IntrudedChild } from "../lib/kernel/agents/intruded-child.ts";
import { withEach } from "../lib/kernel/with-node.ts";

describe("somebody who runs code in the child that checks out a commit, on the real kernel", function () {
  this.timeout(60_000); // on machines that have others at work
  let child: IntrudedChild;

  withEach(IntrudedChild, [], (made) => {
    child = made;
  });

  it("reads and writes no file of the node, and none of its kernel or its disks", () => {
    const gone = [...child.ofNode, "/proc/self/environ", `/node${child.layout}/index.json`];
    const intruded = child.intrude("checkOut", [...gone, "/usr/bin/env"]);
    child.expectNothingOfTheNode(intruded, gone, ["/usr/bin/env"]);
    expect(intruded.processes).to.deep.equal([]);
    expect(intruded.heapMiB, "what Node may take, without the container's limit in sight").to.be.lessThan(600);
    expect(intruded.program, "it has run, and written nothing").to.match(/^ran, [12]$/);
  });
});
