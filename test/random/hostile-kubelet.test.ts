import * as net from "node:net";
import { posix } from "node:path";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { expect } from "chai";
import { slow } from "../../hack/lib/lanes/slow.ts";
import type { PodPublish } from "../../src/csi/server/ports.ts";
import { collectedMemory } from "../lib/asserts/collected-memory.ts";
import { type HostileCall, hostileCall } from "../lib/csi/hostile-csi-request.ts";
import { mutatedBytes } from "../lib/mutate/mutated-bytes.ts";
import { tryAll } from "../lib/mutate/tries.ts";
import { DriverWorld } from "../unit/csi/server/driver-world.ts";
import type { HeldPodCall } from "../unit/csi/server/fake-pod-volumes.ts";

const together = 100;
/** The preface of HTTP/2, settings, and a head that is none. */
const frames = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([
    0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x84, 0x41, 0, 0, 8, 0, 0, 0, 0, 0, 0, 1,
  ]),
]);

describe("a hostile client of the socket that the agent has for kubelet", function () {
  this.timeout(1_200_000);
  let world: DriverWorld;
  beforeEach(() => {
    world = new DriverWorld();
  });
  afterEach(() => world.end());

  slow("gets no volume at a path that is not a pod's, by 100,000 calls", async () => {
    await world.start();
    // The volumes are a fake that binds nothing: what is judged here is all that it was asked for.
    const judged = { publish: 0, unpublish: 0 };
    const judge = ({ kind, target, done }: HeldPodCall) => {
      expectTarget(target.path, target.podUID);
      if (kind === "publish") expectWish(target as PodPublish);
      judged[kind] += 1;
      done();
    };
    const codes = new Map<string, number>();
    let rounds = 0;
    let before = 0;
    const client = new Client(`unix:${world.endpoint}`, credentials.createInsecure());
    await tryAll({
      what: "times a hundred hostile calls",
      usual: 1_000,
      whole: 20_000,
      reaches: {},
      async attempt(random) {
        if (random.chance(0.2)) throwAt(world.endpoint, mutatedBytes(frames, [frames], random));
        const calls = Array.from({ length: together }, () => made(client, hostileCall(random)));
        let open = true;
        const all = Promise.all(calls).finally(() => {
          open = false;
        });
        while (open) {
          for (const call of world.volumes.calls.splice(0)) judge(call);
          await new Promise(setImmediate);
        }
        for (const code of await all) codes.set(code, (codes.get(code) ?? 0) + 1);
        // The library's own INTERNAL is for what is no message at all; such a call is none of ours.
        const faults = world.ended.splice(0).filter((one) => one.endsWith(" INTERNAL"));
        if (faults.length > 0) throw new Error(`not understood for what it is: ${faults[0]}`);
        if (++rounds === 100) before = collectedMemory();
        return "judged";
      },
    });
    client.close();
    console.log(`      ${JSON.stringify(judged)}; ${[...codes].sort().join(" ").replaceAll(",", ": ")}`);
    expect(judged.publish).to.be.greaterThan(1_000);
    expect(judged.unpublish).to.be.greaterThan(1_000);
    expect(codes.get("INVALID_ARGUMENT")).to.be.greaterThan(10_000);
    const good = world.kubelet.publish(world.endpoint);
    (await world.volumes.call(0)).done();
    expect(await good).to.deep.equal(["OK", ""]);
    if (before > 0) expect(collectedMemory() / before, "what is kept, to what was after a tenth").to.be.lessThan(1.5);
  });
});

/** @returns the code that it came to */
function made(client: Client, { method, message }: HostileCall): Promise<string> {
  const same = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    const done = (error: ServiceError | null) => resolve(error === null ? "OK" : (status[error.code] ?? "none"));
    client.makeUnaryRequest(method, same, same, message, new Metadata(), {}, done);
  });
}

/** Bytes that are no call, on a connection that is broken off. */
function throwAt(socket: string, bytes: Buffer): void {
  const connection = net.connect(socket);
  connection.on("error", () => {});
  connection.end(bytes, () => connection.destroy());
}

const ofPods = /^\/var\/lib\/kubelet\/pods\/([A-Za-z0-9-]{1,64})\/volumes\/kubernetes\.io~csi\/[a-z0-9-]{1,63}\/mount$/;

function expectTarget(path: string, uid: string): void {
  const [, named] = ofPods.exec(path) ?? [];
  if (named !== uid || posix.normalize(path) !== path) throw new Error(`a volume of ${uid} at ${JSON.stringify(path)}`);
}

function expectWish({ subPath, wants, podUID, namespace, podName }: PodPublish): void {
  const what = JSON.stringify({ subPath, wants, podUID, namespace, podName });
  const name = "set" in wants ? wants.set : wants.persistentVolumeClaim;
  if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name)) throw new Error(`a volume by another name: ${what}`);
  const leads =
    subPath !== undefined && (posix.normalize(subPath) !== subPath || /^(\/|\.\.(\/|$))|\/$|\p{Cc}/u.test(subPath));
  if (leads) throw new Error(`a path that leads elsewhere: ${what}`);
  if (namespace === "" || podName === "") throw new Error(`of no pod: ${what}`);
}
