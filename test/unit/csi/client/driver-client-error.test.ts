import { expect } from "chai";
import { driverError } from "../../../../src/csi/client/driver-client.ts";

const outcome = { errorClass: "final", reason: "DriverFailed" } as const;
const failed = {
  driver: "a.example",
  rpc: "NodeStageVolume",
  outcome,
  what: "INTERNAL",
  text: "",
  secrets: [],
} as const;

describe("the error of a driver's answer", () => {
  for (const [what, text, secrets, message] of [
    ["says what the driver says", " no such disk\n", [], "driver a.example: NodeStageVolume: INTERNAL: no such disk"],
    ["says the code alone, if the driver says nothing", " ", [], "driver a.example: NodeStageVolume: INTERNAL"],
    [
      "does not repeat a secret that the driver repeats",
      "login with hunter2 failed",
      ["hunter2"],
      "driver a.example: NodeStageVolume: INTERNAL: login with [redacted] failed",
    ],
  ] as const) {
    it(what, () => {
      const error = driverError({ ...failed, text, secrets });
      expect([error.message, error.cause]).to.deep.equal([message, undefined]);
    });
  }

  it("is cut to what a status has room for, without a part of a secret", () => {
    const { message } = driverError({ ...failed, text: `${"hunter2 ".repeat(1000)}`, secrets: ["hunter2"] });
    expect(message.length).to.be.at.most(1024);
    expect(message).not.to.include("hunt");
  });
});
