import { expect } from "chai";
import { resource } from "../../../src/api/names.ts";
import { equalJitter, fullJitter } from "../../../src/kube/backoff.ts";
import { ApiError, classifyWriteError, errorOf, isUnavailable } from "../../../src/kube/client/api-error.ts";
import { createLineSplitter } from "../../../src/kube/client/http-transport.ts";
import { resourcePath } from "../../../src/kube/client/resource-path.ts";
import { TransportError } from "../../../src/kube/client/transport.ts";
import { asRecord } from "../../../src/kube/json.ts";
import { controllerOf } from "../../../src/kube/objects/controller-of.ts";
import { podGroups } from "../../../src/kube/objects/pod-groups.ts";
import { compareResourceVersions } from "../../../src/kube/watch/resource-version.ts";
import { parseWatchEvent } from "../../../src/kube/watch/watch-stream.ts";

describe("compareResourceVersions orders as numbers do", () => {
  const cases: [string, string, number][] = [
    ["1", "1", 0],
    ["9", "10", -1],
    ["10", "9", 1],
    ["", "1", -1],
    ["9007199254740993", "9007199254740992", 1],
  ];
  for (const [a, b, sign] of cases) {
    it(`"${a}" and "${b}"`, () => expect(Math.sign(compareResourceVersions(a, b))).to.equal(sign));
  }
});

describe("resourcePath", () => {
  it("builds the path of a collection, an object and its status", () => {
    expect(resourcePath(resource.nodes)).to.equal("/api/v1/nodes");
    expect(resourcePath(resource.sets, { name: "a", subresource: "status" })).to.equal(
      "/apis/nodevolume.dev/v1alpha1/nodevolumesets/a/status",
    );
    expect(resourcePath(resource.leases, { namespace: "n", name: "a/b" })).to.equal(
      "/apis/coordination.k8s.io/v1/namespaces/n/leases/a%2Fb",
    );
  });
});

describe("asRecord", () => {
  it("takes an object, and nothing else that JSON has", () => {
    const object = { a: 1 };
    expect(asRecord(object)).to.equal(object);
    for (const other of [undefined, null, [], "a", 1, true]) expect(asRecord(other), String(other)).to.equal(undefined);
  });
});

describe("controllerOf and podGroups", () => {
  it("pass over what is no object", () => {
    const owners = [null, "x", ["controller"], { uid: "a" }, { uid: "b", controller: true }];
    expect(controllerOf({ metadata: { ownerReferences: owners } })).to.equal("b");
    const containers = [{ securityContext: { runAsGroup: 5 } }];
    expect(podGroups({ securityContext: { fsGroup: 7 }, containers })).to.deep.equal([7, 5]);
    expect(podGroups({ containers: [...containers, null, "x"] })).to.deep.equal([]);
  });
});

describe("createLineSplitter", () => {
  const bytes = (text: string) => Buffer.from(text);

  it("joins what is cut, also in the middle of a character, and skips empty lines", () => {
    const lines: string[] = [];
    const split = createLineSplitter(100, (line) => lines.push(line));
    const all = bytes('{"a":"ü"}\n\n{"b":1}\n{"c"');
    for (const byte of all) split(Buffer.from([byte]));
    expect(lines).to.deep.equal(['{"a":"ü"}', '{"b":1}']);
  });

  it("refuses a line that is longer than allowed", () => {
    const split = createLineSplitter(10, () => {});
    split(bytes("12345\n123456789"));
    expect(() => split(bytes("012"))).to.throw("longer than 10");
  });
});

describe("parseWatchEvent", () => {
  const metadata = { resourceVersion: "5" };
  const cases: [string, unknown, unknown][] = [
    ["a change", { type: "MODIFIED", object: { metadata } }, "MODIFIED"],
    ["a bookmark", { type: "BOOKMARK", object: { metadata } }, "BOOKMARK"],
    ["an error", { type: "ERROR", object: { code: 410 } }, "ERROR"],
    ["an unknown type", { type: "MOVED", object: { metadata } }, undefined],
    ["no resourceVersion", { type: "ADDED", object: { metadata: {} } }, undefined],
    ["no object", { type: "ADDED" }, undefined],
    ["no JSON object", "text", undefined],
  ];
  for (const [name, raw, type] of cases) {
    it(`reads ${name}`, () => expect(parseWatchEvent(raw)?.type).to.equal(type));
  }

  it("tells the end of the initial events from other bookmarks", () => {
    const annotations = { "k8s.io/initial-events-end": "true" };
    expect(parseWatchEvent({ type: "BOOKMARK", object: { metadata: { ...metadata, annotations } } })).to.deep.equal({
      type: "BOOKMARK",
      resourceVersion: "5",
      initialEventsEnd: true,
    });
  });
});

describe("errorOf", () => {
  it("takes reason, message and the time to stay away from the Status", () => {
    const reason = "TooManyRequests";
    const body = { kind: "Status", reason, message: "slow down", details: { retryAfterSeconds: 3 } };
    const error = errorOf({ status: 429, body }, "GET /x");
    expect(error).to.include({ name: "ApiError", status: 429, reason, retryAfterMs: 3000 });
    expect(error.message).to.equal("GET /x: 429 TooManyRequests: slow down");
  });

  it("leaves a server alone for a minute at most, whatever it asks for", () => {
    const left = (asked: object) => (errorOf({ status: 503, body: undefined, ...asked }, "") as ApiError).retryAfterMs;
    for (const seconds of [61, 86_400, 1e308, Number.POSITIVE_INFINITY]) {
      expect(left({ retryAfterSeconds: seconds })).to.equal(60_000);
      expect(left({ body: { details: { retryAfterSeconds: seconds } } })).to.equal(60_000);
    }
    expect(left({ retryAfterSeconds: 60 })).to.equal(60_000);
  });

  it("copes with a proxy's page", () => {
    expect(errorOf({ status: 502, body: "<html>" }, "GET /x").message).to.equal("GET /x: 502 HTTP 502: <html>");
  });
});

describe("classifyWriteError", () => {
  const cases: [unknown, string][] = [
    [new TransportError("reset"), "uncertain"],
    [new ApiError(504, "Timeout", ""), "uncertain"],
    [new ApiError(500, "InternalError", ""), "uncertain"],
    [new ApiError(409, "Conflict", ""), "transient"],
    [new ApiError(429, "TooManyRequests", ""), "transient"],
    [new ApiError(422, "Invalid", ""), "final"],
    [new ApiError(403, "Forbidden", ""), "final"],
    [errorOf({ status: 503, body: { kind: "Status", reason: "ServiceUnavailable" } }, "PATCH /a"), "transient"],
    [errorOf({ status: 503, body: "upstream connect error" }, "PATCH /b"), "uncertain"], // it may have passed it on
  ];
  for (const [error, expected] of cases) {
    it(`${String(error)} is ${expected}`, () => expect(classifyWriteError(error)).to.equal(expected));
  }

  it("isUnavailable tells a server in trouble from a refusal", () => {
    expect(cases.map(([error]) => isUnavailable(error))).to.deep.equal([
      true,
      true,
      true,
      false,
      true,
      false,
      false,
      true,
      true,
    ]);
  });
});

describe("jitter", () => {
  const limits = { baseMs: 100, maxMs: 1000 };
  const always = (value: number) => ({ next: () => value, uuid: () => "" });

  it("fullJitter spreads over all of the doubled base, up to the maximum", () => {
    expect([1, 2, 3, 9].map((n) => fullJitter(n, limits, always(0.999999)))).to.deep.equal([100, 200, 400, 1000]);
    expect(fullJitter(3, limits, always(0))).to.equal(0);
  });

  it("equalJitter keeps at least half", () => {
    expect(equalJitter(2, limits, always(0))).to.equal(100);
    expect(equalJitter(1000, limits, always(0.999999))).to.equal(1000);
  });
});
