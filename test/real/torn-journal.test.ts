import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { KernelAgent } from "../../hack/lib/agent-on-kernel/kernel-agent.ts";
import { buildPrograms, type Programs } from "../../hack/lib/agent-on-kernel/programs.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { mountIDOf } from "../../hack/lib/mount-lines.ts";
import { until } from "../../hack/lib/until.ts";
import type { NodeVolumeIntentStatus } from "../../src/api/types.gen.ts";
import { need } from "../lib/asserts/requirements.ts";

const names = ["node.bind", "node.memory", "node.directory"];

/** Each byte of a journal is tried in test/unit/agent/journal/torn-journal.test.ts: it loses its line, and no other. */
describe("an agent whose journal was torn or damaged in any line", () => {
  let programs: Programs;
  let agent: KernelAgent;
  before(async function () {
    need(this, "root");
    programs = await buildPrograms();
  });
  beforeEach(() => {
    agent = new KernelAgent(programs);
  });
  afterEach(() => agent[Symbol.asyncDispose]());

  const sources = () => [
    { hostPath: { path: `${agent.path}/src/data` } },
    { emptyDir: { medium: "Memory" as const } },
    { emptyDir: {} },
  ];
  const paths = () => names.flatMap((name) => ["a", "b"].map((place) => agent.target(`${name}-${place}`)));
  const ids = () => paths().map((path) => `${path} ${mountIDOf(path)}`);
  const journal = () => `${agent.path}/state/journal`;

  function want(generation: number, places: readonly string[]): void {
    for (const [index, source] of sources().entries()) {
      const name = names[index] ?? "";
      const mounts = places.map((place) => ({ path: agent.target(`${name}-${place}`) }));
      agent.want(intent({ name, uid: `uid of ${name}`, generation, source, mounts }));
    }
  }

  /** Starts an agent, and waits until it has said of every volume what it makes of it. */
  async function startAndTell(): Promise<void> {
    const told = new Set<string>();
    agent.onStatus = (name) => told.add(name);
    agent.statuses.clear(); // nothing is said that stands there already
    await agent.start();
    await until("every volume to be told of", 20_000, () => names.every((name) => told.has(name)));
  }

  /** Volumes of two targets each, mounted; of each there are an old and a new record in the journal. */
  async function mounted(): Promise<Buffer> {
    mkdirSync(`${agent.path}/src/data`);
    want(1, ["a"]);
    await agent.start();
    await Promise.all(names.map((name) => agent.inState(name, "Mounted")));
    want(2, ["a", "b"]);
    const twice = ({ state, observedGeneration }: NodeVolumeIntentStatus) =>
      state === "Mounted" && observedGeneration === 2;
    await Promise.all(names.map((name) => agent.status(name, "mounted twice", twice)));
    await agent.kill();
    return readFileSync(journal());
  }

  slow(
    "unmounts nothing that is in use, says so of damage, keeps the file, and goes on with the whole one",
    async function () {
      this.timeout(300_000);
      const whole = await mounted();
      const before = ids();
      const ends = [...whole.entries()].filter(([, byte]) => byte === 0x0a).map(([at]) => at);
      expect(ends.length, "lines").to.be.above(6);
      for (const [line, end] of ends.entries()) {
        const begin = line === 0 ? 0 : (ends[line - 1] ?? 0) + 1;
        const middle = Math.floor((begin + end) / 2);
        const damaged = Buffer.from(whole);
        damaged[middle] = (damaged[middle] ?? 0) ^ 0x01;
        for (const [what, content] of [
          ["damaged", damaged],
          ["cut off", whole.subarray(0, middle)],
        ] as const) {
          writeFileSync(journal(), content);
          await startAndTell();
          expect(ids(), `line ${line} ${what}`).to.deep.equal(before);
          await agent.kill();
          const copies = readdirSync(`${agent.path}/state`).filter((name) => name.startsWith("journal.damaged"));
          const kept = copies.map((name) => readFileSync(`${agent.path}/state/${name}`));
          expect(kept.map((copy) => copy.equals(content))).to.deep.equal(what === "damaged" ? [true] : []);
          for (const name of copies) rmSync(`${agent.path}/state/${name}`);
        }
      }
      writeFileSync(journal(), whole);
      await startAndTell();
      await Promise.all(names.map((name) => agent.inState(name, "Mounted")));
      expect(ids()).to.deep.equal(before);
      agent.revoke(...names);
      await Promise.all(names.map((name) => agent.inState(name, "Released")));
      expect(agent.mounts()).to.deep.equal([]);
    },
  );

  it("takes no notice of half a new journal, nor of half a reserve", async () => {
    await mounted();
    const before = ids();
    writeFileSync(`${journal()}.new`, "half a li");
    writeFileSync(`${journal()}.reserve`, "half");
    await startAndTell();
    await Promise.all(names.map((name) => agent.inState(name, "Mounted")));
    expect(ids()).to.deep.equal(before);
    expect(existsSync(`${journal()}.new`)).to.equal(false);
  });
});
