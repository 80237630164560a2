import { expect } from "chai";
import { redact } from "../../../../src/api/values/redact.ts";

describe("redact", () => {
  const cases: readonly (readonly [string, string, readonly string[], string])[] = [
    ["as it is", "login with hunter2 failed", ["hunter2"], "login with [redacted] failed"],
    ["each time", "hunter2 hunter2", ["hunter2"], "[redacted] [redacted]"],
    ["at both ends", "hunter2: no: hunter2", ["hunter2"], "[redacted]: no: [redacted]"],
    ["without the line break that files end with", "key 'hunter2' refused", ["hunter2\n"], "key '[redacted]' refused"],
    ["one line of several", "bad line: key=AQBcdefg", ["[client]\nkey=AQBcdefg\n"], "bad line: [redacted]"],
    ["in base64", "Authorization: Basic aHVudGVyMg==", ["hunter2"], "Authorization: Basic [redacted]=="],
    ["in a URL", "GET /?p=a%20b%26c", ["a b&c"], "GET /?p=[redacted]"],
    ["in a quoted string", 'password "a\\"b\\\\c" refused', ['a"b\\c'], 'password "[redacted]" refused'],
    ["overlapping", "x hunter2abc y", ["hunter2", "ter2abc"], "x [redacted] y"],
    ["one in the other", "x hunter2abc y", ["ter2", "hunter2abc"], "x [redacted] y"],
    ["side by side", "hunter2swordfish", ["hunter2", "swordfish"], "[redacted]"],
    ["too short to cut out: all goes", "user a is not known", ["a"], "[redacted]"],
    ["too short, and not there", "no such user", ["q"], "no such user"],
    ["a bracket of a longer one is no secret", "unexpected {", ["{\n  secret: longenough\n{"], "unexpected {"],
    ["an empty one is none", "all is well", ["", "\n"], "all is well"],
    ["none", "all is well", [], "all is well"],
  ];
  for (const [what, text, secrets, out] of cases) {
    it(what, () => {
      expect(redact(text, secrets)).to.equal(out);
    });
  }

  it("takes a secret of 1 MiB", () => {
    const secret = "s3cr3t-".repeat(150_000);
    expect(redact(`is ${secret}!`, [secret])).to.equal("is [redacted]!");
  });
});
