import type { JsonObject } from "../../../hack/lib/api-client.ts";
import type { SeededRandom } from "../../sim/random.ts";
import { mutatedBytes } from "../mutate/mutated-bytes.ts";
import { mutatedJson } from "../mutate/mutated-json.ts";
import { type AgentRequest, asked } from "./requests.ts";

/** All that agents ask. */
export const all = Object.values(asked).flat();
const targets = all.map(({ target }) => target);
const methods = ["GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "get", "CONNECT", "OPTIONS"];
/** What somebody would try who knows how API servers and proxies read. */
const pieces = [
  ...[
    "..",
    ".",
    "/",
    "//",
    "%2f",
    "%2e%2e",
    "%252e",
    "%00",
    "\\",
    ";",
    "?",
    "&",
    "#",
    "%",
    "+",
    "*",
    "@",
    ":",
    " ",
    "\t",
  ],
  ...[
    "node-2",
    "node-1.a",
    "kube-system",
    "watch=true",
    "&watch=true",
    "resourceVersion=0",
    "&dryRun=All",
    "&pretty=1",
  ],
  ...[
    "%2Cmetadata.name%3Dx",
    "&fieldSelector=spec.nodeName%3Dnode-2",
    "/status",
    "/proxy",
    "/exec",
    "/token",
    "/watch",
  ],
  ...["http://a", "https://a:443", "%2Fapi", "secrets", "nodevolumesets", "clusterroles", "limit=5000", "%3D%3D", "!="],
];
const headers: readonly (readonly [string, string])[] = [
  ["authorization", "Bearer a"],
  ["impersonate-user", "system:node:node-1"],
  ["impersonate-user", "system:node:node-2"],
  ["impersonate-user", "system:admin"],
  ["impersonate-group", "system:masters"],
  ["transfer-encoding", "chunked"],
  ["x-http-method-override", "DELETE"],
  ["content-type", "application/json-patch+json"],
  ["content-length", "5"],
  ["connection", "upgrade"],
];

/** PURE. A request of an agent with one to three changes, as somebody would make them who knows what passes. */
export function mutated(request: AgentRequest, random: SeededRandom): AgentRequest {
  let { method, target, headers: given, body } = request;
  for (let left = 1 + random.below(3); left > 0; left--) {
    const dice = random.below(10);
    if (dice < 4) target = spliced(target, random);
    else if (dice < 5)
      target = mutatedBytes(
        Buffer.from(target),
        targets.map((one) => Buffer.from(one)),
        random,
      ).toString("latin1");
    else if (dice < 6) method = random.pick(methods);
    else if (dice < 7) given = [...given, ...random.pick(headers)];
    else if (dice < 8) given = otherHeader(given, random);
    else if (body !== undefined) body = otherBody(body, random);
    else target = random.pick(targets);
  }
  if (body !== undefined) {
    const length = given.indexOf("content-length");
    if (length >= 0 && random.chance(0.9)) given = given.with(length + 1, String(Buffer.byteLength(body)));
  }
  return { method, target, headers: given, ...(body !== undefined && { body }) };
}

/** A piece in place of another, or a piece of another target. */
function spliced(target: string, random: SeededRandom): string {
  const at = random.below(target.length + 1);
  const until = Math.min(target.length, at + random.below(random.chance(0.3) ? 20 : 3));
  const other = random.pick(targets);
  const from = random.below(other.length);
  const piece = random.chance(0.7) ? random.pick(pieces) : other.slice(from, from + 1 + random.below(40));
  return target.slice(0, at) + piece + target.slice(until);
}

function otherHeader(given: readonly string[], random: SeededRandom): readonly string[] {
  const at = random.below(given.length / 2) * 2;
  if (random.chance(0.3)) return given.toSpliced(at, 2);
  if (random.chance(0.5)) return given.with(at + 1, random.pick(headers)[1]);
  return given.with(at, random.pick(headers)[0]);
}

function otherBody(body: string, random: SeededRandom): string {
  if (random.chance(0.2)) return mutatedBytes(Buffer.from(body), [Buffer.from(body)], random).toString("utf8");
  const others = all.flatMap((one) => (one.body === undefined ? [] : [JSON.parse(one.body) as JsonObject]));
  try {
    return JSON.stringify(mutatedJson(JSON.parse(body), others, random));
  } catch {
    return body;
  }
}
