import { expect } from "chai";
import { troubles } from "../../../../src/cli/support-bundle/troubles.ts";

describe("troubles of an archive", () => {
  it("have no characters that a terminal obeys, whatever an agent has written: somebody prints the file", () => {
    const condition = {
      type: "Ready",
      status: "False",
      reason: "X",
      lastTransitionTime: "t",
      message: "\u001b[2J\na\u202eb",
    };
    const lines = troubles("NodeVolumeState", [{ metadata: { name: "n1" }, status: { conditions: [condition] } }]);
    expect(lines).to.deep.equal(["NodeVolumeState n1 Ready=False X since t: \\x1b[2J a\\u{202e}b"]);
  });
});
