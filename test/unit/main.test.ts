import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

describe("main", function () {
  this.timeout(30_000);

  const run = (...args: string[]) =>
    spawnSync(process.execPath, [main, ...args], { encoding: "utf8", env: {}, timeout: 20_000 });

  const wrong: [string, string[], string][] = [
    ["no role", [], "the first argument is the role"],
    ["an unknown role", ["cook"], "the first argument is the role"],
    ["an unknown flag", ["controller", "--nonsense"], "--nonsense"],
    ["no API server", ["controller"], "--api-server is needed"],
  ];
  for (const [what, args, message] of wrong) {
    it(`says in one line what is wrong, and exits with 2: ${what}`, () => {
      const { status, stderr, stdout } = run(...args);
      expect([status, stdout]).to.deep.equal([2, ""]);
      expect(stderr.trimEnd().split("\n")).to.have.length(1);
      expect(stderr).to.contain(message);
    });
  }

  it("exits with 1 when the role fails", () => {
    const files = ["--api-ca-file", "/nonexistent/ca", "--api-token-file", "/nonexistent/token"];
    const { status, stderr } = run("controller", "--api-server", "https://127.0.0.1:1", "--identity", "a", ...files);
    expect(status).to.equal(1);
    expect(stderr).to.contain("/nonexistent/ca");
  });
});
