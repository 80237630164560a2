import type { SeededRandom } from "../../sim/random.ts";
import { mutatedBytes } from "../mutate/mutated-bytes.ts";
import { type AgentRequest, intent } from "./requests.ts";

/** What an intruder would have read behind a request that passes. */
const smuggled = [
  "GET /api/v1/secrets?limit=500 HTTP/1.1\r\nHost: a\r\naccept: application/json\r\n\r\n",
  "DELETE /apis/nodevolume.dev/v1alpha1/nodevolumesets/a HTTP/1.1\r\nHost: a\r\n\r\n",
  "POST /api/v1/namespaces/kube-system/serviceaccounts/admin/token HTTP/1.1\r\nHost: a\r\ncontent-length: 2\r\n\r\n{}",
  `GET /apis/nodevolume.dev/v1alpha1/nodevolumeintents/${intent.replace("node-1", "node-2")} HTTP/1.1\r\nHost: a\r\n\r\n`,
];

/** Headers that readers of HTTP have taken in different ways. */
const confusing = [
  ...[
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: xchunked",
    "Transfer-Encoding : chunked",
    "Transfer-Encoding:\tchunked",
  ],
  ...["Transfer-Encoding: chunked, identity", "Transfer-Encoding: identity", "X: a\r\n Transfer-Encoding: chunked"],
  ...["Content-Length: 0", "Content-Length: +5", "Content-Length: 0x5", "Content-Length: 5, 5", "Content-Length: 5e0"],
  ...[
    "Content-Length: 1\r\nContent-Length: 90",
    "Content-Length:",
    "Content-Length: 9007199254740993",
    "Expect: 100-continue",
  ],
  ...["Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk", "Connection: Upgrade\r\nUpgrade: websocket"],
  ...["Connection: content-length", "Connection: close, authorization", "Trailer: authorization", "TE: trailers"],
  ...[
    "Host: b",
    "Host: kubernetes.default.svc",
    ":authority: a",
    "a\0b: c",
    "a: b\0c",
    "a: b\nAuthorization: Bearer c",
  ],
  ...[
    "X-Original-URL: /api/v1/secrets",
    "X-HTTP-Method: DELETE",
    "X-Forwarded-User: admin",
    "X-Remote-Group: system:masters",
  ],
];
const versions = ["HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "http/1.1", "HTTP/1.1 ", "HTTP/01.1", ""];
const ends = ["\n", "\r", "\r\r\n", "\n\r"];

/**
 * PURE. The bytes of a request over a connection: as an agent sends it, or with what is to be read as something else.
 */
export function framed(request: AgentRequest, random: SeededRandom): Buffer {
  const dice = random.below(20);
  const lines = linesOf(request);
  const body = request.body ?? "";
  if (dice < 6) return bytesOf(lines, body);
  if (dice < 9) return bytesOf(lines, body + random.pick(smuggled));
  if (dice < 13) {
    const at = 1 + random.below(lines.length);
    return bytesOf(
      lines.toSpliced(at, 0, random.pick(confusing)),
      body + (random.chance(0.5) ? random.pick(smuggled) : ""),
    );
  }
  if (dice < 15)
    return bytesOf(chunkedHead(lines), chunks(body, random) + (random.chance(0.5) ? random.pick(smuggled) : ""));
  if (dice < 16) return bytesOf(lines.with(0, (lines[0] ?? "").replace("HTTP/1.1", random.pick(versions))), body);
  if (dice < 17) return Buffer.from(lines.join(random.pick(ends)) + random.pick(ends).repeat(2) + body, "latin1");
  const whole = bytesOf(lines, body);
  if (dice < 18) return whole.subarray(0, random.below(whole.length));
  return mutatedBytes(
    whole,
    smuggled.map((one) => Buffer.from(one)),
    random,
  );
}

function linesOf({ method, target, headers }: AgentRequest): string[] {
  const pairs = Array.from({ length: headers.length / 2 }, (_, i) => headers.slice(i * 2, i * 2 + 2).join(": "));
  return [`${method} ${target} HTTP/1.1`, ...pairs];
}

function bytesOf(lines: readonly string[], body: string): Buffer {
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), Buffer.from(body, "utf8")]);
}

/** With the length, or in its place. */
function chunkedHead(lines: readonly string[]): string[] {
  return [...lines.filter((line) => !line.startsWith("content-length")), "Transfer-Encoding: chunked"];
}

function chunks(body: string, random: SeededRandom): string {
  const size = Buffer.byteLength(body).toString(16);
  const sizes = [size, `0${size}`, `${size};a=b`, `${size} `, `+${size}`, `0x${size}`, "ffffffffffffffff", "-1"];
  return `${random.chance(0.5) ? size : random.pick(sizes)}\r\n${body}\r\n0\r\n\r\n`;
}
