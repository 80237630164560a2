// Calls a driver that repeats every secret that it gets, in a process whose gRPC library is told to log everything.
// What a log, an event or a status could have of it goes to stdout; canaries.test.ts looks for the secrets there.
import { inspect } from "node:util";
import type { StageRequest } from "../../../src/csi/ports.ts";
import { tokensKey } from "../../../src/csi/secrets-of.ts";
import { canaries } from "./canaries.ts";
import { calling, connected, errorOf, publishRequest, stageRequest } from "./clients.ts";
import { FakeDriver, type HeldCall } from "./fake-driver.ts";

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
