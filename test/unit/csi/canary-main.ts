// Calls a driver that repeats every secret that it gets, in a process whose gRPC library is told to log everything.
// What a log, an event or a status could have of it goes to stdout; canaries.test.ts looks for the secrets there.
import { inspect } from "node:util";
import { tokensKey } from "../../../src/csi/client/secrets-of.ts";
import type { StageRequest } from "../../../src/csi/ports.ts";
import type { LogMeta } from "../../../src/ports.ts";
import { tokensFor } from "../../lib/fakes/pod-tokens.ts";
import { canaries } from "./canaries.ts";
import { calling, connected, errorOf, publishRequest, stageRequest } from "./clients.ts";
import { FakeDriver, type HeldCall } from "./fake-driver.ts";
import { RememberingLog } from "./remembering-log.ts";
import { DriverWorld } from "./server/driver-world.ts";
import { podUID } from "./server/requests.ts";

const driver = await new FakeDriver().start();
const code = Number(process.argv[2]);
// The request itself is the text: all of it, in front of what the message is cut to, and the token by itself.
const echo = ({ request, answer }: HeldCall) => {
  const all = request.toString("utf8");
  answer({ work: "before", code, text: `${/"token":"([^"]+)"/.exec(all)?.[1] ?? ""} ${all}` });
};
const reply = ({ request, answer }: HeldCall) => answer({ work: "after", bytes: request });
for (const rpc of ["NodeStageVolume", "NodePublishVolume", "NodeExpandVolume"] as const) {
  driver.answers.set(rpc, code === 0 ? reply : echo);
}
const { node, client, close } = connected(driver);

const capability: StageRequest["capability"] = {
  access: { mode: "SINGLE_NODE_WRITER" },
  volume: { kind: "mount", fsType: "", mountFlags: ["vers=3.0", `password=${canaries.mountFlag}`] },
};
const secrets = new Map([["key", canaries.secret]]);
const tokens = JSON.stringify({ audience: { token: canaries.token, expirationTimestamp: "2026-01-01T00:00:00Z" } });
const secret = { capability, secrets, volumeContext: new Map([[tokensKey, tokens]]) };
const expand = { volumeID: "v", volumePath: "/target", requiredBytes: "1", capability, secrets };
const inSecrets = new Map([...secrets, [tokensKey, tokens]]);
for (const call of [
  () => node.stage({ ...stageRequest, ...secret }),
  () => node.publish({ ...publishRequest, ...secret }),
  () => node.publish({ ...publishRequest, capability, secrets: inSecrets }),
  () => node.expand(expand),
]) {
  if (code === 0)
    await call().catch((error: unknown) => console.log(inspect(error, { depth: null, showHidden: true })));
  else {
    const error = await errorOf(call());
    console.log(error.message, inspect(error, { depth: null, showHidden: true }), error.stack, JSON.stringify(error));
  }
}
console.log("called", driver.calls.join(" "));
await calling(node, client).NodeGetInfo();
close();
driver.end();
await kubeletHandsOver();

/**
 * The other way: kubelet hands tokens of a pod over to our own driver, in each place and form, and it fails with them.
 */
async function kubeletHandsOver(): Promise<void> {
  const world = new DriverWorld();
  world.log = new (class extends RememberingLog {
    override debug(message: string, meta?: LogMeta): void {
      console.log("logged", message, inspect(meta, { depth: null, showHidden: true }));
    }
  })();
  const tokenRequests = [{ audience: "audience" }];
  world.object = { spec: { ...world.object?.spec, tokenRequests, requiresRepublish: true } };
  await world.start();
  const own = tokensFor(podUID, { audience: canaries.token });
  const others = tokensFor("another", { audience: canaries.token });
  const inContext = (json: string) => ({ attributes: { set: "datasets", [tokensKey]: json } });
  const inSecrets = (json: string) => ({ secrets: new Map([...secrets, [tokensKey, json]]) });
  for (const change of [inContext(own), inSecrets(own)]) {
    const answer = world.kubelet.publish(world.endpoint, change);
    const { target, fail } = await world.volumes.call(world.volumes.calls.length);
    fail(new Error(`${inspect(target, { depth: null, showHidden: true })} ${JSON.stringify(target)}`));
    console.log("handed over", Object.keys(target).includes("identity"), await answer);
  }
  for (const json of [others, canaries.token, JSON.stringify([canaries.token])]) {
    for (const change of [inContext(json), inSecrets(json)])
      console.log("refused", await world.kubelet.publish(world.endpoint, change));
  }
  console.log("ended", world.ended.join(" "));
  world.end();
}
