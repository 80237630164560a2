// The last file of the lane: what it looks at, the others have done.
import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { grepVariable } from "../../hack/lib/lanes/lanes.ts";
import { full, need } from "../lib/asserts/requirements.ts";
import { auditFiles } from "../lib/cluster/cluster.ts";
import { readExceptions, rightsFindings, rightsGiven, usageOf } from "../lib/cluster/rights-used.ts";

describe("config/rbac", () => {
  // Some tests alone use some rights alone, and some of them are of the long run.
  const whole = !process.env[grepVariable] && full();
  const usage = () => {
    const log = auditFiles()
      .filter(existsSync)
      .map((file) => readFileSync(file, "utf8"));
    return usageOf(log.join(""));
  };

  it(`gives controller and agents ${whole ? "what they use in this lane, and nothing else" : "what they are seen to use"}`, function () {
    need(this, "root");
    expect(auditFiles(), "clusters of this lane").not.to.have.length(0);
    const findings = rightsFindings(rightsGiven(), usage(), readExceptions());
    if (whole) expect(findings).to.deep.equal([]);
    // In the short run it is told, and that our programs were seen at all is asked.
    for (const finding of findings) console.log(`    ${finding}`);
    expect(usage().used.size, "rights that were used").to.be.greaterThan(0);
  });
});
