import { isIPv6 } from "node:net";
import { expect } from "chai";
import fc from "fast-check";
import { parseIntent } from "../../../src/api/validate.ts";

describe("the rules of paths and servers", () => {
  const accepts = (source: object) => {
    const spec = {
      nodeName: "worker-1",
      nodeUID: "u",
      volumeName: "data",
      mode: "Manage",
      volumeMode: "Filesystem",
      mounts: [],
      source,
    };
    return parseIntent({ metadata: { name: "a" }, spec }).ok;
  };

  it("take a path exactly if each of its names is one that Linux keeps apart", () => {
    // fc.string({ unit: "binary" }) makes a map of all of them first: seconds.
    const codePoint = fc.nat(0x10ffff).filter((point) => point < 0xd800 || point > 0xdfff);
    const name = fc.oneof(
      { weight: 4, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }) },
      { weight: 4, arbitrary: fc.constantFrom("...", ".a", "..a", "a.", "é", "💾", " ", "\\", "a".repeat(255)) },
      { weight: 1, arbitrary: fc.array(codePoint, { maxLength: 4 }).map((points) => String.fromCodePoint(...points)) },
      {
        weight: 1,
        arbitrary: fc.constantFrom("", ".", "..", "a\n", "\u0085", "\u2028", "\u200b", "\u202e", "é".repeat(64)),
      },
    );
    const start = fc.oneof({ weight: 8, arbitrary: fc.constant("/") }, fc.constantFrom("", "//"));
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(start, fc.array(name, { maxLength: 4 }), (first, names) => {
        const path = first + names.join("/");
        const segments = path.split("/");
        const clean = (s: string) => s !== "" && s !== "." && s !== ".." && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(s);
        const short = (s: string) => Buffer.byteLength(s) === s.length || [...s].length <= 63;
        const wanted =
          segments[0] === "" && segments.length > 1 && segments.slice(1).every((s) => clean(s) && short(s));
        expect(accepts({ hostPath: { path } }), JSON.stringify(path)).to.equal(wanted);
        seen[wanted ? "accepted" : "refused"] += 1;
      }),
      { numRuns: 300 },
    );
    expect(seen.accepted, JSON.stringify(seen)).to.be.greaterThan(30);
    expect(seen.refused).to.be.greaterThan(30);
  });

  it("take an IPv6 address in brackets exactly if the system does, but for IPv4 in it", () => {
    const group = fc.oneof(
      { weight: 30, arbitrary: fc.nat(0xffff).map((n) => n.toString(16)) },
      { weight: 10, arbitrary: fc.constantFrom("0", "0000", "ffff", "FFFF") },
      { weight: 1, arbitrary: fc.constantFrom("", "00001", "g", "-1", "1.2.3.4") },
    );
    const half = fc.array(group, { maxLength: 5 });
    const address = fc.oneof(
      fc.tuple(half, half).map(([a, b]) => `${a.join(":")}::${b.join(":")}`),
      fc.array(group, { minLength: 7, maxLength: 8 }).map((groups) => groups.join(":")),
      fc.tuple(fc.constantFrom("::ffff", "0:0:0:0:0:ffff", "0::ffff:0"), group, group).map((parts) => parts.join(":")),
    );
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(address, (address) => {
        const wanted =
          isIPv6(address) &&
          !address.includes(".") &&
          !/^\[::ffff(:[^:]+){2}\]$/.test(new URL(`http://[${address}]/`).hostname);
        expect(accepts({ nfs: { server: `[${address}]`, path: "/" } }), address).to.equal(wanted);
        seen[wanted ? "accepted" : "refused"] += 1;
      }),
      { numRuns: 1000 },
    );
    expect(seen.accepted, JSON.stringify(seen)).to.be.greaterThan(30);
  });

  it("cost no time on hostile text", () => {
    const started = performance.now();
    accepts({ hostPath: { path: `/${"a/".repeat(500)}${"é".repeat(20)}` } });
    accepts({ nfs: { server: `${"a-".repeat(120)}!`, path: `/${"a".repeat(1000)}` } });
    accepts({ configMap: { namespace: `${"a-".repeat(120)}!`, name: `${"a.".repeat(120)}!` } });
    // What backtracks without end would take hours.
    expect(performance.now() - started).to.be.lessThan(3000);
  });
});
