import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "chai";
import { statusOf } from "../../../src/agent/status/intent-status.ts";
import { transitions } from "../../../src/agent/status/transitions.ts";
import { programsIn } from "../../lib/kernel/child-command.ts";
import { Bench, volumeName } from "../bench.ts";
import type { Point } from "../point.ts";

const agent = { bootID: "boot", epoch: 1 };

/** Where anybody may look: log, journal, statuses, events, the mount table, and what programs were started with. */
export const secrets: Point = {
  name: "secrets",
  title: "no Secret is in a log, journal, status, event, mount table or argument, whether it goes well or not",
  asks: (of) => of.secrets !== undefined,
  alone: true,
  async holds({ of }) {
    await using bench = await Bench.on(of, { records: true });
    const { node } = bench;
    const said: string[] = [];
    const look = async () => {
      const plan = await node.plan();
      const volume = plan.volumes.get(volumeName);
      if (volume !== undefined) said.push(JSON.stringify(statusOf(bench.intent(), volume, { agent, now: Date.now() })));
      said.push(JSON.stringify(transitions(true, plan).map(({ reason, message }) => ({ reason, message }))));
      said.push(JSON.stringify([...(await node.journal()).records.values()]), ...filesIn(node.stateDir));
      said.push(readFileSync("/proc/self/mountinfo", "utf8"));
    };
    await bench.setUp();
    await look();
    await node.restart();
    await bench.setUp();
    await look();
    expect((await bench.release()).phase).to.equal("released");
    await look();
    const later = (await of.refuses?.(node)) ?? [];
    if (later.length > 0) {
      node.want(bench.intent());
      node.forgetFailures();
      expect((await node.volume(volumeName)).failure, "it was to be refused").not.to.equal(undefined);
      await look();
      expect((await bench.release()).phase).to.equal("released");
      await look();
    }
    said.push(...node.log, ...node.lines);
    const programs = programsIn(bench.programs);
    const { program, by } = of.secretsToldTo ?? {};
    if (program !== undefined) expect(programs.map(({ file }) => basename(file))).to.include(program);
    const first = typeof of.secrets === "function" ? of.secrets() : (of.secrets ?? []);
    for (const secret of [...first, ...later].flatMap(spellings)) {
      expect(said.filter((text) => text.includes(secret))).to.deep.equal([]);
      const shownTo = programs.flatMap(({ file, args, env }) => [
        ...(args.some((arg) => arg.includes(secret)) ? [`arguments of ${basename(file)}`] : []),
        ...(Object.values(env).some((value) => value.includes(secret)) ? [`environment of ${basename(file)}`] : []),
      ]);
      expect(shownTo.filter((where) => where !== `${by} of ${program}`)).to.deep.equal([]);
    }
    return later.length > 0 ? undefined : "if it goes well";
  },
};

/** As it may stand in a text. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    ...new Set([
      secret,
      bytes.toString("base64"),
      bytes.toString("hex"),
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
    ]),
  ];
}

/** All files of a directory's own file system: what is shown in memory is on another. */
function filesIn(directory: string): string[] {
  const { dev } = statSync(directory);
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return statSync(path).dev === dev ? filesIn(path) : [];
    return entry.isFile() ? [readFileSync(path, "latin1")] : [];
  });
}
