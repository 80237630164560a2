import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { grpcRequests } from "../../lib/csi/grpc-requests.ts";

describe("grpcRequests", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "nodevolume-log-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const called = "I1124 server.go:101] GRPC call: /csi.v1.Node/NodePublishVolume";
  const asked = (text: string) => `I1124 server.go:105] GRPC request: ${text}`;
  const inLog = (text: string) => {
    const file = join(directory, "driver.log");
    writeFileSync(file, text);
    return grpcRequests(file, "NodePublishVolume");
  };

  it("are what follows each call, and of that call alone", () => {
    const other = called.replace("Publish", "Stage");
    const lines = [called, asked('{"a":1}'), other, asked("{}"), "something else", called, asked('{"a":2}'), ""];
    expect(inLog(lines.join("\n"))).to.deep.equal(['{"a":1}', '{"a":2}']);
  });

  it("are none that is not written to its end", () => {
    for (const end of ["", "\n", `\n${asked('{"a"')}`, `\n${asked('{"a":1}')}`]) {
      expect(inLog(`${called}${end}`), end).to.deep.equal([]);
    }
  });
});
