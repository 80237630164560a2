import { expect } from "chai";
import { NodeGetInfoResponse } from "../../../src/csi/gen/csi.gen.ts";
import { codes, concerns, type FaultRule } from "../../drivers/lib/faults.ts";
import { Refusal } from "../../drivers/lib/serve.ts";
import { lengthen, withMoreBytes } from "../../drivers/lib/unknown-field.ts";
import { fits, sizeFor, unsupported } from "../../drivers/loop-xfs/capabilities.ts";
import { flagsOf } from "../../drivers/loop-xfs/flags.ts";
import { Storage, smallest } from "../../drivers/loop-xfs/storage.ts";

const free = 1024 * smallest;

function refusal(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
  return "OK";
}

describe("loop-xfs, its decisions", () => {
  it("sizeFor gives whole blocks, and never less than a file system needs", () => {
    expect(sizeFor(undefined, free)).to.equal(smallest);
    expect(sizeFor({ requiredBytes: String(smallest + 1), limitBytes: "0" }, free)).to.equal(smallest + 4096);
  });

  it("sizeFor refuses a range that no volume fits in", () => {
    const sizes = (requiredBytes: number, limitBytes: number) => () =>
      sizeFor({ requiredBytes: String(requiredBytes), limitBytes: String(limitBytes) }, free);
    expect(refusal(sizes(2 * smallest, smallest))).to.equal("INVALID_ARGUMENT");
    expect(refusal(sizes(0, smallest - 1))).to.equal("OUT_OF_RANGE");
    expect(refusal(sizes(2 * free, 0))).to.equal("OUT_OF_RANGE");
  });

  it("fits says whether a volume that is there is as large as asked for, and no larger", () => {
    expect(fits(10, undefined)).to.equal(true);
    expect(fits(10, { requiredBytes: "11", limitBytes: "0" })).to.equal(false);
    expect(fits(10, { requiredBytes: "5", limitBytes: "9" })).to.equal(false);
  });

  it("unsupported lets nobody write one xfs from two nodes", () => {
    const mount = { fsType: "", mountFlags: [], volumeMountGroup: "" };
    expect(unsupported({ mount, accessMode: { mode: 1 } })).to.equal(undefined);
    expect(unsupported({ mount, accessMode: { mode: 3 } })).to.equal(undefined);
    expect(unsupported({ mount, accessMode: { mode: 5 } })).to.include("several nodes");
    expect(unsupported({ block: {}, accessMode: { mode: 5 } })).to.equal(undefined);
    expect(unsupported({ mount: { ...mount, fsType: "ext4" }, accessMode: { mode: 1 } })).to.include("ext4");
    expect(unsupported({ accessMode: { mode: 1 } })).to.include("exactly one");
  });

  it("flagsOf takes an endpoint with its scheme, and names the flag that is missing", () => {
    const flags = flagsOf(["--endpoint", "unix:///s", "--node-id", "n", "--data", "/d", "--no-attach"]);
    expect(flags).to.include({ endpoint: "/s", nodeID: "n", attach: false, stage: true, maxVolumes: 0 });
    expect(() => flagsOf(["--endpoint", "/s", "--data", "/d"])).to.throw("--node-id is needed");
  });

  it("Storage.idOf is a function of the name", () => {
    expect(Storage.idOf("a")).to.equal(Storage.idOf("a")).and.not.equal(Storage.idOf("b"));
  });
});

describe("faults that a test orders", () => {
  const rule: FaultRule = { id: "1", rpc: "NodeStageVolume", fault: { kind: "lie" } };
  const call = { rpc: "NodeStageVolume", volume: "v", node: "n" };

  it("concern the RPC, the volume and the node that the rule names", () => {
    expect(concerns(rule, call)).to.equal(true);
    expect(concerns({ ...rule, volume: "v", node: "n" }, call)).to.equal(true);
    expect(concerns({ ...rule, volume: "w" }, call)).to.equal(false);
    expect(concerns({ ...rule, node: "m" }, call)).to.equal(false);
    expect(concerns({ ...rule, rpc: "NodePublishVolume" }, call)).to.equal(false);
  });

  it("know every status of gRPC but OK", () => {
    expect(Object.values(codes)).to.have.members([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
  });

  it("make an answer longer, which every reader still understands", () => {
    const info = NodeGetInfoResponse.fromPartial({ nodeId: "n" });
    const serialize = withMoreBytes((value) => Buffer.from(NodeGetInfoResponse.encode(value as typeof info).finish()));
    const short = serialize(info);
    const long = serialize(lengthen(info, 300));
    expect(long.length - short.length).to.equal(300 + 4);
    expect(NodeGetInfoResponse.decode(long)).to.deep.equal(info);
  });
});
