import { expect } from "chai";
import { LinuxEvidence } from "../../src/host/linux/linux-evidence.ts";
import { need } from "../lib/requirements.ts";

describe("LinuxEvidence", () => {
  before(function () {
    need(this, "root");
  });

  it("users of a mount are told as far as they can be read; holders are proof, so that none may be missing", async () => {
    const evidence = new LinuxEvidence("self");
    process.seteuid?.(65534);
    try {
      const users = await evidence.users("/");
      expect(users.every((user) => user.pid === process.pid || user.command !== "")).to.equal(true);
      const error = await evidence.holders({ device: "0:0", root: "/" }).catch((thrown: unknown) => thrown);
      expect(error).to.include({ reason: "StillReferenced" });
    } finally {
      process.seteuid?.(0);
    }
  });
});
