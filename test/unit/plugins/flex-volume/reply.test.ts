import { expect } from "chai";
import { type FlexReply, replyOf } from "../../../../src/plugins/flex-volume/reply.ts";

const all = { attach: true, fsGroup: true, selinuxRelabel: true, supportsMetrics: false, requiresFSResize: true };
const nothing = { device: "", volumeName: "", attached: false, capabilities: all };

describe("replyOf a flexvolume driver", () => {
  const cases: readonly [title: string, code: number, stdout: string, expected: FlexReply, stderr?: string][] = [
    ["Success", 0, '{"status": "Success"}', { kind: "success", status: nothing }],
    [
      "what it says, in any case of letters",
      0,
      '{"Status": "Success", "DEVICE": "/dev/sdx", "volumename": "v", "Attached": true}\n',
      { kind: "success", status: { ...nothing, device: "/dev/sdx", volumeName: "v", attached: true } },
    ],
    [
      "capabilities; what is not said of them holds",
      0,
      '{"status":"Success","capabilities":{"attach":false,"supportsmetrics":true}}',
      { kind: "success", status: { ...nothing, capabilities: { ...all, attach: false, supportsMetrics: true } } },
    ],
    ["Not supported, with an error as its exit", 1, '{"status": "Not supported"}', { kind: "notSupported" }],
    ["Not supported without one", 0, '{"status": "Not supported", "message": "x"}', { kind: "notSupported" }],
    ["Failure with words", 1, '{"status": "Failure", "message": "no pool"}', { kind: "failure", message: "no pool" }],
    ["Failure that ends well", 0, '{"status":"Failure","message":"no"}', { kind: "failure", message: "no" }],
    [
      "any other status",
      1,
      '{"status": "Failed"}',
      { kind: "failure", message: "Failed (exit 1: it broke)" },
      "it broke",
    ],
    [
      "an answer on standard error, as kubelet reads both",
      1,
      " \n",
      { kind: "failure", message: "x" },
      '{"status":"Failure","message":"x"}',
    ],
    [
      "Success and an error: neither",
      3,
      '{"status": "Success"}',
      { kind: "invalid", message: "it answered Success and ended with an error (exit 3: boom)" },
      "boom",
    ],
    [
      "no JSON",
      127,
      "",
      { kind: "invalid", message: "it did not answer with a JSON object (exit 127: not found)" },
      "not found",
    ],
    [
      "all that it said, for secrets to be found whole in it",
      1,
      "",
      { kind: "invalid", message: `it did not answer with a JSON object (exit 1: ${"s".repeat(4000)})` },
      "s".repeat(4000),
    ],
    ["a list", 0, "[]", { kind: "invalid", message: "it did not answer with a JSON object (exit 0: [])" }],
    ["no status", 0, "{}", { kind: "invalid", message: "its answer has no status (exit 0: {})" }],
    [
      "capabilities that are none",
      0,
      '{"status":"Success","capabilities":{"attach":"no"}}',
      { kind: "invalid", message: "its capabilities are not an object of true and false" },
    ],
  ];
  for (const [title, code, stdout, expected, stderr = ""] of cases) {
    it(title, () => expect(replyOf({ code, stdout, stderr })).to.deep.equal(expected));
  }
});
