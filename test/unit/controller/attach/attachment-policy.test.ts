import { expect } from "chai";
import { attachmentName, isOwnAttachment } from "../../../../src/controller/attach/attachment-name.ts";
import { shipped } from "../../shipped-policies.ts";

describe("nodevolume-attachments", () => {
  it("lets through the names that the controller gives and goes by, and no others", () => {
    const { validations = [] } = shipped("ValidatingAdmissionPolicy", "nodevolume-attachments").spec;
    const [, pattern = ""] = /^variables\.name\.matches\('([^']+)'\)$/.exec(validations[0]?.expression ?? "") ?? [];
    const named = new RegExp(pattern);
    const own = attachmentName({ driver: "d.example.com", volumeHandle: "volume^1" }, "node-1");
    expect([named.test(own), isOwnAttachment(own)]).to.deep.equal([true, true]);
    const [, digest = ""] = own.split("-");
    for (const name of [`csi-${digest}`, `${own}0`, own.slice(0, -1), own.toUpperCase(), `x${own}`, `${own}\n`, ""]) {
      expect([named.test(name), isOwnAttachment(name)], JSON.stringify(name)).to.deep.equal([false, false]);
    }
  });
});
