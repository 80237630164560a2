import { expect } from "chai";
import { slownessVariable } from "../../../hack/lib/lanes/slowness.ts";
import { testDeadline } from "../../../hack/lib/test-deadline.ts";

describe("testDeadline", () => {
  const before = process.env[slownessVariable];
  afterEach(() => {
    if (before === undefined) delete process.env[slownessVariable];
    else process.env[slownessVariable] = before;
  });

  it("is in whole milliseconds, however slow the machine is", () => {
    process.env[slownessVariable] = "4.6"; // times 45,000 is 206,999.99999999997
    expect(testDeadline(1)).to.equal(207_000);
  });
});
