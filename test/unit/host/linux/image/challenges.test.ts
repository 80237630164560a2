import { expect } from "chai";
import { readChallenges } from "../../../../../src/host/linux/image/challenges.ts";

describe("readChallenges", () => {
  const cases: readonly (readonly [header: string, ...challenges: readonly (readonly [string, object?])[]])[] = [
    [""],
    [" , ,"],
    ["Negotiate", ["negotiate"]],
    ['Basic realm="r"', ["basic", { realm: "r" }]],
    [
      'Bearer realm="https://a/t",service="s",scope="x:y:pull,push z"',
      ["bearer", { realm: "https://a/t", service: "s", scope: "x:y:pull,push z" }],
    ],
    [
      "Bearer realm=https://a/t,service=s,scope=pull",
      ["bearer", { realm: "https://a/t", service: "s", scope: "pull" }],
    ],
    ["Bearer realm=https://a/t?x=y , service = s", ["bearer", { realm: "https://a/t?x=y", service: "s" }]],
    ['Negotiate, Basic realm="r"', ["negotiate"], ["basic", { realm: "r" }]],
    ['Basic realm="r", Bearer realm="b", x=y', ["basic", { realm: "r" }], ["bearer", { realm: "b", x: "y" }]],
    [
      'Newauth realm="apps", type=1, title="Login to \\"apps\\"", Basic realm="simple"',
      ["newauth", { realm: "apps", type: "1", title: 'Login to "apps"' }],
      ["basic", { realm: "simple" }],
    ],
    ["NTLM TlRMTVNTUAAC==, Bearer realm=b", ["ntlm"], ["bearer", { realm: "b" }]],
    ["Negotiate abc", ["negotiate"]],
    ['BASIC REALM="r", realm="other"', ["basic", { realm: "r" }]],
    [', Basic\trealm = "a, Bearer realm=b" ,, ', ["basic", { realm: "a, Bearer realm=b" }]],
    ['Bearer realm="never ends', ["bearer", { realm: "never ends" }]],
    ['Bearer realm="", service=', ["bearer", { realm: "", service: "" }]],
    ['Bearer error="invalid_token"\x01x', ["bearer", { error: "invalid_token" }]],
    ["realm=x", ["realm"]],
  ];
  for (const [header, ...challenges] of cases) {
    it(`reads ${JSON.stringify(header)}`, () => {
      const found = readChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);
      expect(found).to.deep.equal(challenges.map(([scheme, parameters = {}]) => [scheme, parameters]));
    });
  }

  it("takes time that grows with the header alone", () => {
    for (const text of ["a ", ", ", 'a="', "a=\\", '"', "a b,", "\t"]) {
      const began = performance.now();
      readChallenges(text.repeat(20_000));
      expect(performance.now() - began, text).to.be.lessThan(2000);
    }
  });
});
