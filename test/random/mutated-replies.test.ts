import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isReason } from "../../src/api/reasons.ts";
import type { Connection } from "../../src/csi/client/connection.ts";
import { DriverClient } from "../../src/csi/client/driver-client.ts";
import { grpcDialer } from "../../src/csi/client/grpc-connection.ts";
import { nodeClient } from "../../src/csi/client/node-client.ts";
import {
  NodeExpandVolumeResponse,
  NodeGetCapabilitiesResponse,
  NodeGetInfoResponse,
  NodeGetVolumeStatsResponse,
  NodeServiceCapability_RPC_Type as Type,
  VolumeUsage_Unit as Unit,
} from "../../src/csi/gen/csi.gen.ts";
import type { NodeInfo, VolumeStats } from "../../src/csi/ports.ts";
import { VolumeError } from "../../src/errors.ts";
import { systemClock } from "../../src/system.ts";
import { answeringDriver } from "../lib/mutate/answering-driver.ts";
import { mutatedBytes } from "../lib/mutate/mutated-bytes.ts";
import { tryAll } from "../lib/mutate/tries.ts";
import { calling, publishRequest, stageRequest } from "../unit/csi/clients.ts";

/**
 * Begins with no digit of a hexadecimal number: what stands for a control character before the rest of it would
 * complete it.
 */
const secret = "sesame-8d1f27-open";
const bytesOf = (bytes: Uint8Array) => Buffer.from(bytes);
const usage = [
  { unit: Unit.BYTES, total: "1000", available: "400", used: "600" },
  { unit: Unit.INODES, total: "9223372036854775807", available: "0", used: "1" },
];
const condition = Buffer.from([0x12, 0x0a, 0x08, 0x01, 0x12, 0x06, ...Buffer.from("failed")]);
const segments = new Map([
  ["zone", "a"],
  ["rack", secret],
]);
/** Replies as CSI has them, which the others are made of. */
const replies: readonly Buffer[] = [
  bytesOf(
    NodeGetCapabilitiesResponse.encode(
      NodeGetCapabilitiesResponse.fromPartial({
        capabilities: [Type.STAGE_UNSTAGE_VOLUME, Type.EXPAND_VOLUME, Type.GET_VOLUME_STATS].map((type) => ({
          rpc: { type },
        })),
      }),
    ).finish(),
  ),
  bytesOf(
    NodeGetInfoResponse.encode(
      NodeGetInfoResponse.fromPartial({
        nodeId: "node-1",
        maxVolumesPerNode: "16",
        accessibleTopology: { segments },
      }),
    ).finish(),
  ),
  bytesOf(NodeExpandVolumeResponse.encode(NodeExpandVolumeResponse.fromPartial({ capacityBytes: "2048" })).finish()),
  Buffer.concat([
    NodeGetVolumeStatsResponse.encode(NodeGetVolumeStatsResponse.fromPartial({ usage })).finish(),
    condition,
  ]),
  Buffer.alloc(0),
  Buffer.from(secret),
];

describe("mutated replies of a CSI driver", function () {
  this.timeout(1_200_000);
  let directory: string;
  let driver: Awaited<ReturnType<typeof answeringDriver>>;
  let connection: Connection;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "nodevolume-replies-"));
    driver = await answeringDriver(directory, "mutated.example");
    connection = grpcDialer(systemClock).dial(driver.socket);
  });
  after(() => {
    connection.close();
    driver.stop();
    rmSync(directory, { recursive: true });
  });

  it("are what CSI allows, or a failure with a reason, with no secret in it", async () => {
    const client = new DriverClient(driver.name, connection);
    const secrets = new Map([["password", secret]]);
    await tryAll({
      what: "mutated replies",
      usual: 3_000,
      whole: 100_000,
      reaches: { "taken: NodeGetInfo": 20, "refused: DriverReplyInvalid": 500 },
      async attempt(random) {
        const bytes = mutatedBytes(random.pick(replies), replies, random);
        const code = random.below(20);
        driver.say(random.chance(0.8) ? { bytes } : { code, text: `${secret} ${bytes.toString("latin1")} ${secret}` });
        const node = nodeClient(client, connection); // what it remembers of the connection is its own
        const { GetPluginInfo: _, ...calls } = calling(
          {
            ...node,
            stage: () => node.stage({ ...stageRequest, secrets }),
            publish: () => node.publish({ ...publishRequest, secrets }),
            expand: (request) => node.expand({ ...request, secrets }),
          },
          client,
        );
        const rpc = random.pick(Object.keys(calls) as (keyof typeof calls)[]);
        const told = ["NodeStageVolume", "NodePublishVolume", "NodeExpandVolume"].includes(rpc);
        let reply: unknown;
        try {
          reply = await calls[rpc]();
        } catch (error) {
          return refused(error, told);
        }
        if (rpc === "NodeGetInfo") info(reply as NodeInfo);
        if (rpc === "NodeGetVolumeStats") stats(reply as VolumeStats);
        if (rpc === "NodeExpandVolume") whole((reply as { capacityBytes: string }).capacityBytes);
        return `taken: ${rpc}`;
      },
    });
  });

  /** @param told whether the driver was given the secret: of a call without one nothing can be taken out */
  function refused(error: unknown, told: boolean): string {
    if (!(error instanceof VolumeError)) throw new Error("no VolumeError", { cause: error });
    const { message, reason } = error;
    demand(isReason(reason), `no reason: ${reason}`);
    demand(message.length <= 1024, "a message that fits no status");
    demand(!/\p{Cc}/u.test(message), "a control character in a message");
    demand(message.isWellFormed(), "half a character in a message");
    demand(!told || !message.includes(secret), `a secret in a message: ${JSON.stringify(message)}`);
    return `refused: ${reason}`;
  }

  function info({ nodeID, maxVolumesPerNode, accessibleTopology }: NodeInfo): void {
    demand(nodeID !== "" && Buffer.byteLength(nodeID) <= 256, "a node id that CSI does not allow");
    demand(Number.isSafeInteger(maxVolumesPerNode) && maxVolumesPerNode >= 0, `a limit of ${maxVolumesPerNode}`);
    demand(accessibleTopology.size <= 256, "too many segments");
  }

  function stats({ usage, condition }: VolumeStats): void {
    for (const { total, available, used } of usage) for (const number of [total, available, used]) whole(number);
    demand(new Set(usage.map(({ unit }) => unit)).size === usage.length, "a unit twice");
    demand(condition === undefined || condition.message.length <= 1024, "a condition that fits no status");
    demand(condition === undefined || !/\p{Cc}/u.test(condition.message), "a control character in a condition");
  }

  function whole(number: string | undefined): void {
    demand(number === undefined || /^\d+$/.test(number), `no whole number: ${number}`);
  }

  function demand(holds: boolean, what: string): void {
    if (!holds) throw new Error(what);
  }
});
