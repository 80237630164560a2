import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import { selfSigned } from "../../src/http/self-signed.ts";
import { version } from "../../src/version.ts";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

describe("main", function () {
  this.timeout(30_000);

  const run = (...args: string[]) =>
    spawnSync(process.execPath, [main, ...args], { encoding: "utf8", env: {}, timeout: 20_000 });

  const wrong: [string, string[], string][] = [
    ["no role", [], "the first argument is the role"],
    ["an unknown role", ["cook"], "the first argument is the role"],
    ["an unknown flag", ["controller", "--nonsense"], "--nonsense"],
    ["an unknown feature", ["agent", "--api-server=https://127.0.0.1:1", "--feature-gates=X=true"], "known are Kernel"],
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

  for (const args of [["--help"], ["-h"], ["help"], ["agent", "--help"]])
    it(`says how it is called, on standard output, and exits with 0: ${args.join(" ")}`, () => {
      const { status, stderr, stdout } = run(...args);
      expect([status, stderr]).to.deep.equal([0, ""]);
      expect(stdout)
        .to.match(/^usage: main\.cjs controller\|agent\|api-proxy/)
        .and.include("\n  --node-name\n");
    });

  for (const word of ["version", "--version"])
    it(`says its version, and that sources have no commit: ${word}`, () => {
      const stdout = `node-volume-operator ${version} (unknown)\n`;
      expect(run(word)).to.deep.include({ status: 0, stdout, stderr: "" });
    });

  it("writes nothing but JSON to its log, warnings of Node.js, too", () => {
    const warn =
      'process.emitWarning("old","DeprecationWarning","DEP0000");process.emitWarning("later","ExampleWarning")';
    const onListener = `process.on("newListener",(name)=>{if(name==="warning")process.nextTick(()=>{${warn}})})`;
    const files = ["--api-ca-file", "/nonexistent/ca", "--api-token-file", "/nonexistent/token"];
    const args = [main, "controller", "--api-server", "https://127.0.0.1:1", "--identity", "a", ...files];
    const started = ["--import", `data:text/javascript,${onListener}`, ...args];
    const { stderr } = spawnSync(process.execPath, started, { encoding: "utf8", env: {}, timeout: 20_000 });
    const lines = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { level: string; error?: string });
    expect(lines.map(({ level, error }) => [level, error])).to.deep.include(["warn", "later"]);
    expect(stderr).not.to.include("DEP0000");
  });

  describe("on a processor whose numbers are not known (this one, called riscv64)", () => {
    // Also what the bundle of the command line has in it.
    const called = `data:text/javascript,Object.defineProperty(process,"arch",{value:"riscv64"})`;
    const runThere = (program: string, ...args: string[]) =>
      spawnSync(process.execPath, ["--import", called, program, ...args], {
        encoding: "utf8",
        env: {},
        timeout: 20_000,
      });
    const access = ["--api-server", "https://127.0.0.1:1", "--api-ca-file", "/nonexistent/ca"];

    for (const args of [["agent", "--node-name", "a", ...access], ["child"]]) {
      it(`says in one sentence why it is no ${args[0]} there, and exits with 2`, () => {
        const { status, stderr } = runThere(main, ...args);
        expect(stderr).to.match(/^the agent runs on x64 and arm64 alone, and this is riscv64: [^\n]+\n$/);
        expect(status).to.equal(2);
      });
    }

    it("is a controller, and the command line, as everywhere", () => {
      const files = ["--api-token-file", "/nonexistent/token", "--identity", "a"];
      expect(runThere(main, "controller", ...access, ...files).stderr).to.contain("/nonexistent/ca");
      const cli = fileURLToPath(new URL("../../src/kubectl-nvi.ts", import.meta.url));
      expect(runThere(cli, "help").status).to.equal(0);
    });
  });

  it("exits with 1 when the role fails", () => {
    const files = ["--api-ca-file", "/nonexistent/ca", "--api-token-file", "/nonexistent/token"];
    const { status, stderr } = run("controller", "--api-server", "https://127.0.0.1:1", "--identity", "a", ...files);
    expect(status).to.equal(1);
    expect(stderr).to.contain("/nonexistent/ca");
  });

  it("takes another log level while it runs, and goes on", async function () {
    this.timeout(140_000);
    const directory = mkdtempSync(join(tmpdir(), "nodevolume-main-"));
    const levels = join(directory, "levels");
    const [ca, token] = [join(directory, "ca"), join(directory, "token")];
    writeFileSync(ca, selfSigned("nobody").cert);
    writeFileSync(token, "none");
    mkdirSync(levels);
    const access = ["--api-server", "https://127.0.0.1:1", "--api-ca-file", ca, "--api-token-file", token];
    const own = ["--identity", "c", "--metrics-address", "127.0.0.1:0", "--log-level-dir", levels];
    const child = spawn(process.execPath, [main, "controller", ...access, ...own], { env: {} });
    try {
      let said = "";
      child.stderr.on("data", (chunk) => {
        said += chunk;
      });
      const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
      await until("its start", 40_000, () => said.includes("serving metrics"));
      expect(said).not.to.include("debug lines are written");
      writeFileSync(join(levels, "controller"), "debug\n");
      await until("its other level", 40_000, () => said.includes('"level":"debug","message":"debug lines are written'));
      rmSync(join(levels, "controller"));
      await until("its first level", 40_000, () => said.includes("the settings at the start"));
      expect(child.exitCode).to.equal(null);
      child.kill("SIGTERM");
      expect(await ended).to.equal(0);
    } finally {
      child.kill("SIGKILL");
      rmSync(directory, { recursive: true });
    }
  });
});
