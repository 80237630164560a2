import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import { followLogLevel } from "../../src/follow-log-level.ts";
import { createLogger, type LeveledLogger } from "../../src/log.ts";
import { chooseLevel, filesFor, type LogLevel, type Who } from "../../src/log-level.ts";

const agent: Who = { role: "agent", nodeName: "worker-1" };

/** Exchanges what a directory shows as kubelet does with a ConfigMap: all at once, by a link. */
function show(directory: string, files: { readonly [name: string]: string }, generation: number): void {
  const data = `..${generation}`;
  mkdirSync(join(directory, data));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(directory, data, name), text);
    rmSync(join(directory, name), { force: true });
    symlinkSync(join("..data", name), join(directory, name));
  }
  symlinkSync(data, join(directory, "..new"));
  renameSync(join(directory, "..new"), join(directory, "..data"));
}

describe("the log level", () => {
  const choose = (who: Who, files: { readonly [name: string]: string }) =>
    chooseLevel(who, (name) => files[name], "info");

  it("is what is said of a node before what is said of all agents, and a role hears only of itself", () => {
    const files = { agents: "warn\n", "agent.worker-1": "debug", controller: "error" };
    expect(choose(agent, files)).to.deep.equal({ level: "debug", by: "agent.worker-1", wrong: [] });
    expect(choose({ role: "agent", nodeName: "worker-2" }, files)).to.include({ level: "warn", by: "agents" });
    expect(choose({ role: "controller" }, files)).to.include({ level: "error", by: "controller" });
    expect(choose({ role: "controller" }, { agents: "debug" })).to.include({ level: "info", by: undefined });
    expect(filesFor(agent)).to.deep.equal(["agent.worker-1", "agents"]);
  });

  it("is not what is no level, which is said", () => {
    const { level, wrong } = choose(agent, { agents: "warn", "agent.worker-1": "loud" });
    expect(level).to.equal("warn");
    expect(wrong).to.deep.equal(['agent.worker-1: "loud" is not one of error, warn, info, debug']);
  });

  it("of a logger changes for its children too", () => {
    const log = createLogger("error", {});
    const said = writtenBy(() => {
      const child = log.child({ part: "one" });
      child.info("not said");
      log.setLevel("debug");
      child.debug("said now");
      log.setLevel("warn");
      child.info("not said again");
    });
    expect(said.map(({ message, part }) => [message, part])).to.deep.equal([["said now", "one"]]);
  });

  it("follows the files of a directory, there, changed, wrong and gone, and says so", async () => {
    const directory = mkdtempSync(join(tmpdir(), "nodevolume-log-level-"));
    const log = fakeLog("info");
    const stop = followLogLevel({ directory, who: agent, atStart: "info", log });
    try {
      expect(log.lines).to.deep.equal([]);
      show(directory, { agents: "debug" }, 1);
      await until("debug", 10_000, () => log.level() === "debug");
      expect(log.lines.join("\n")).to.match(/info: the log level is another one.*"level":"debug".*"by":"agents"/);
      show(directory, { agents: "debug", "agent.worker-1": "shout" }, 2);
      await until("the wrong one", 10_000, () => log.lines.some((line) => line.startsWith("error: unknown log level")));
      expect(log.level()).to.equal("debug");
      show(directory, { agents: "warn", "agent.worker-1": "" }, 3);
      await until("warn", 10_000, () => log.level() === "warn");
      rmSync(join(directory, "agents"));
      await until("info again", 10_000, () => log.level() === "info");
      expect(log.lines.at(-2)).to.include("the settings at the start");
    } finally {
      stop();
      rmSync(directory, { recursive: true });
    }
  });

  it("is as at the start where there is no such directory", () => {
    const log = fakeLog("info");
    followLogLevel({ directory: "/nonexistent/log-level", who: agent, atStart: "info", log })();
    expect(log.level()).to.equal("info");
    expect(log.lines).to.have.length(1);
    expect(log.lines[0]).to.match(/^warn: .*cannot be watched/);
  });
});

function fakeLog(level: LogLevel): LeveledLogger & { readonly lines: string[] } {
  const lines: string[] = [];
  let now = level;
  const write = (kind: string) => (message: string, meta?: object) => {
    lines.push(`${kind}: ${message} ${JSON.stringify(meta ?? {})}`);
  };
  return {
    lines,
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child() {
      return this;
    },
    level: () => now,
    setLevel(wanted) {
      now = wanted;
    },
  };
}

/** What is written to standard error meanwhile, line by line. */
function writtenBy(action: () => void): { readonly [key: string]: unknown }[] {
  const written: string[] = [];
  const before = process.stderr.write;
  const console_ = (console as unknown as { _stderr?: NodeJS.WriteStream })._stderr ?? process.stderr;
  const beforeConsole = console_.write;
  const take = (text: string | Uint8Array) => {
    written.push(String(text));
    return true;
  };
  process.stderr.write = take as typeof process.stderr.write;
  console_.write = take as typeof process.stderr.write;
  try {
    action();
  } finally {
    process.stderr.write = before;
    console_.write = beforeConsole;
  }
  return written
    .join("")
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { [key: string]: unknown });
}
