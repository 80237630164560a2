import { expect } from "chai";
import { capabilitiesOf, expansionOf, InvalidReply, infoOf, statsOf } from "../../../src/csi/client/replies.ts";
import { expandMessage, publishMessage, stageMessage } from "../../../src/csi/client/requests.ts";
import {
  NodeExpandVolumeRequest,
  NodeExpandVolumeResponse,
  NodeGetCapabilitiesResponse,
  NodeGetInfoResponse,
  NodeGetVolumeStatsResponse,
  NodePublishVolumeRequest,
  NodeStageVolumeRequest,
} from "../../../src/csi/gen/csi.gen.ts";
import type { AccessMode, VolumeCapability } from "../../../src/csi/ports.ts";
import { publishRequest, stageRequest } from "./clients.ts";

describe("requests", () => {
  const secret = { secrets: new Map([["__proto__", "x"]]) };

  it("stage: every field, over the wire", () => {
    const bytes = NodeStageVolumeRequest.encode(stageMessage({ ...stageRequest, ...secret })).finish();
    const { volumeCapability, ...fields } = NodeStageVolumeRequest.decode(bytes);
    expect(fields).to.deep.equal({
      volumeId: "volume-1",
      publishContext: new Map([["device", "/dev/x"]]),
      stagingTargetPath: "/staging",
      secrets: new Map([["__proto__", "x"]]),
      volumeContext: new Map([["pool", "fast"]]),
    });
    expect(volumeCapability).to.deep.include({
      accessMode: { mode: 1 },
      mount: { fsType: "xfs", mountFlags: ["noatime"], volumeMountGroup: "" },
      block: undefined,
    });
  });

  it("publish: a staging path only if there is one", () => {
    const published = (request: typeof publishRequest) =>
      NodePublishVolumeRequest.decode(NodePublishVolumeRequest.encode(publishMessage(request)).finish());
    expect(published({ ...publishRequest, readOnly: true })).to.deep.include({
      stagingTargetPath: "/staging",
      targetPath: "/target",
      readonly: true,
    });
    const { stagingPath, ...direct } = publishRequest;
    expect(stagingPath).to.equal("/staging");
    expect(published(direct)).to.deep.include({ stagingTargetPath: "", readonly: false });
  });

  it("expand: bytes beyond what a double can hold", () => {
    const requiredBytes = "9007199254740993";
    const { secrets, capability } = stageRequest;
    const message = expandMessage({ volumeID: "v", volumePath: "/t", requiredBytes, capability, secrets });
    const { capacityRange } = NodeExpandVolumeRequest.decode(NodeExpandVolumeRequest.encode(message).finish());
    expect(capacityRange).to.deep.equal({ requiredBytes, limitBytes: "0" });
  });

  it("a block volume, and a group", () => {
    const of = (volume: VolumeCapability["volume"]) =>
      stageMessage({ ...stageRequest, capability: { access: { mode: "MULTI_NODE_MULTI_WRITER" }, volume } })
        .volumeCapability;
    expect(of({ kind: "block" })).to.deep.equal({ accessMode: { mode: 5 }, block: {}, mount: undefined });
    const group = { fsType: "", mountFlags: [], mountGroup: "2000" };
    expect(of({ kind: "mount", ...group })?.mount).to.deep.equal({
      fsType: "",
      mountFlags: [],
      volumeMountGroup: "2000",
    });
  });

  // Numbers of csi.proto, VolumeCapability.AccessMode.Mode.
  const modes: { readonly [mode in AccessMode]: number } = {
    SINGLE_NODE_WRITER: 1,
    SINGLE_NODE_READER_ONLY: 2,
    MULTI_NODE_READER_ONLY: 3,
    MULTI_NODE_SINGLE_WRITER: 4,
    MULTI_NODE_MULTI_WRITER: 5,
    SINGLE_NODE_SINGLE_WRITER: 6,
    SINGLE_NODE_MULTI_WRITER: 7,
  };
  for (const [mode, number] of Object.entries(modes) as [AccessMode, number][]) {
    it(`access mode ${mode} is ${number}`, () => {
      const capability = { ...stageRequest.capability, access: { mode } };
      expect(stageMessage({ ...stageRequest, capability }).volumeCapability?.accessMode?.mode).to.equal(number);
    });
  }
});

describe("replies", () => {
  it("capabilities: each by its number, others left out", () => {
    const of = (...types: number[]) =>
      capabilitiesOf(
        NodeGetCapabilitiesResponse.encode({
          capabilities: types.map((type) => ({ rpc: { type: type as 0 } })),
        }).finish(),
      );
    const names = (...types: number[]) =>
      Object.entries(of(...types))
        .filter(([, has]) => has)
        .map(([name]) => name);
    expect(names()).to.deep.equal([]);
    expect([1, 2, 3, 4, 5, 6].map((type) => names(type).join())).to.deep.equal([
      "stageUnstage",
      "stats",
      "expand",
      "volumeCondition",
      "singleNodeMultiWriter",
      "volumeMountGroup",
    ]);
    expect(names(0, 7, 8, 99)).to.deep.equal([]);
    expect(names(1, 2, 3, 4, 5, 6)).to.have.length(6);
  });

  const info = (fields: Parameters<typeof NodeGetInfoResponse.fromPartial>[0]) =>
    infoOf(NodeGetInfoResponse.encode(NodeGetInfoResponse.fromPartial(fields)).finish());

  it("info: the node's id, its limit and where it is", () => {
    const segments = new Map([["zone", "a"]]);
    expect(info({ nodeId: "n", maxVolumesPerNode: "7", accessibleTopology: { segments } })).to.deep.equal({
      nodeID: "n",
      maxVolumesPerNode: 7,
      accessibleTopology: segments,
    });
    expect(info({ nodeId: "n" })).to.deep.include({ maxVolumesPerNode: 0, accessibleTopology: new Map() });
    expect(info({ nodeId: "n", maxVolumesPerNode: "9223372036854775807" }).maxVolumesPerNode).to.equal(2 ** 53 - 1);
  });

  it("info that CSI does not allow", () => {
    expect(() => info({})).to.throw(InvalidReply, "node_id is empty");
    expect(() => info({ nodeId: "é".repeat(129) })).to.throw(InvalidReply, "node_id is longer than 256 bytes");
    expect(() => info({ nodeId: "n", maxVolumesPerNode: "-1" })).to.throw(
      InvalidReply,
      "max_volumes_per_node is negative",
    );
    const segments = new Map(Array.from({ length: 257 }, (_, at) => [`k${at}`, ""]));
    expect(() => info({ nodeId: "n", accessibleTopology: { segments } })).to.throw(
      InvalidReply,
      "more than 256 segments",
    );
  });

  it("expansion: the size, 0 if it is not said", () => {
    const of = (capacityBytes: string) => expansionOf(NodeExpandVolumeResponse.encode({ capacityBytes }).finish());
    expect(of("9007199254740993")).to.deep.equal({ capacityBytes: "9007199254740993" });
    expect(expansionOf(new Uint8Array())).to.deep.equal({ capacityBytes: "0" });
    expect(() => of("-1")).to.throw(InvalidReply, "capacity_bytes is negative: -1");
  });

  const usage = (unit: 0 | 1 | 2, total: string, available = "0", used = "0") => ({ unit, total, available, used });
  const stats = (...all: ReturnType<typeof usage>[]) => NodeGetVolumeStatsResponse.encode({ usage: all }).finish();

  it("stats: one entry a unit, others left out", () => {
    const bytes = stats(usage(0, "1"), usage(1, "9007199254740993", "2", "3"), usage(2, "4"), usage(1, "5"));
    expect(statsOf(bytes)).to.deep.equal({
      usage: [
        { unit: "BYTES", total: "9007199254740993", available: "2", used: "3" },
        { unit: "INODES", total: "4", available: "0", used: "0" },
      ],
      condition: undefined,
    });
    expect(() => statsOf(stats(usage(1, "1", "-2")))).to.throw(InvalidReply, "available is negative: -2");
  });

  it("stats: the condition that specifications before 1.13 have in field 2", () => {
    // tag 2, length 7: {tag 1: true, tag 2, length 3: "bad"}
    const condition = [0x12, 7, 0x08, 1, 0x12, 3, ...Buffer.from("bad")];
    const bytes = new Uint8Array([...stats(usage(1, "1")), ...condition]);
    expect(statsOf(bytes).condition).to.deep.equal({ abnormal: true, message: "bad" });
    expect(statsOf(bytes).usage).to.have.length(1);
    expect(statsOf(new Uint8Array([0x12, 0])).condition).to.deep.equal({ abnormal: false, message: "" });
    const coloured = new Uint8Array([0x12, 5, 0x12, 3, 0x1b, 0x5b, 0x6d]);
    expect(statsOf(coloured).condition?.message).to.equal("\\x1b[m");
  });

  it("none of them takes what is no message", () => {
    const bytes = new Uint8Array([0x0a, 0xff]);
    for (const read of [capabilitiesOf, infoOf, statsOf]) expect(() => read(bytes)).to.throw();
    expect(() => expansionOf(new Uint8Array([0x08]))).to.throw();
  });
});
