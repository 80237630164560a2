// The measured process of hack/bench/hung-server.ts: an agent with a fake API server, in a mount namespace of its own.

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";
import { Registry } from "prom-client";
import { asVolumeName, type VolumeName } from "../../../src/agent/model/identities.ts";
import type { Plan } from "../../../src/agent/model/volume-plan.ts";
import { startAgent } from "../../../src/agent/start.ts";
import type { NodeVolumeIntentStatus } from "../../../src/api/types.gen.ts";
import { prepareStateDirectories } from "../../../src/host/linux/files/state-directories.ts";
import { linuxHost } from "../../../src/host/linux/linux-host.ts";
import { loadLibc } from "../../../src/host/linux/syscall/libc.ts";
import { realSystem } from "../../../src/system.ts";
import { FakeApi } from "../../lib/agent-on-kernel/fake-api.ts";
import { FuseServer } from "../../lib/agent-on-kernel/fuse/fuse-server.ts";
import { intent } from "../../lib/agent-on-kernel/intent.ts";
import { noDrivers } from "../../lib/no-drivers.ts";
import { silent } from "../../lib/silent-log.ts";

export interface Work {
  readonly path: string;
  readonly child: readonly string[];
  readonly fuse: string;
  readonly rounds: number;
  readonly volumes: number;
}

/** How many of the volumes are mounted while the one on the server is being begun. */
const beside = 10;

/**
 * How long after the volume on the server was written the others are measured, in milliseconds. By then it says that it
 * does not answer; with the server running the agent is as idle until then, since what has rested is slower for a
 * while.
 */
const restMs = 5_000;

/** Milliseconds of each volume of one round, and what became of the one on the server. */
export interface Round {
  readonly server: "runs" | "stopped";
  /** Mounted while the one on the server is begun: its child is started, its journal entry written. */
  readonly beginning: readonly number[];
  /** From here on once the one on the server is mounted, or says that it does not answer. */
  readonly mount: readonly number[];
  readonly unmount: readonly number[];
  readonly report: readonly number[];
  /** What the volume on the server said, and how long after the server went on it was mounted. */
  readonly hung?: { readonly said: string; readonly recoveredMs: number };
}

type Phase = (status: NodeVolumeIntentStatus) => boolean;

async function main({ path, child, fuse, rounds, volumes }: Work): Promise<void> {
  const [stateDir, prefix, sources] = ["state", "mnt", "src"].map((name) => `${path}/${name}`) as [
    string,
    string,
    string,
  ];
  const others = Array.from({ length: volumes }, (_, i) => `node.other-${i}`);
  for (const name of [...others, "fuse"]) mkdirSync(`${sources}/${name}`, { recursive: true });
  mkdirSync(prefix);
  execFileSync("mount", ["--bind", prefix, prefix]);
  execFileSync("mount", ["--make-shared", prefix]);
  await using server = await FuseServer.start(`${sources}/fuse`, fuse);
  const api = new FakeApi();
  const watch = new Watch(api);
  const libc = loadLibc();
  const system = realSystem(silent);
  const childCommand = [process.execPath, ...child] as const;
  const agent = await startAgent({
    system,
    transport: api,
    host: linuxHost({ stateDir, ranBefore: prepareStateDirectories(libc, stateDir), childCommand, system, libc }),
    drivers: noDrivers,
    nodeName: "node",
    version: "bench",
    settings: { allowedPrefixes: [prefix], stateDir, hostRoot: "/", csiDir: `${stateDir}/csi` },
    registry: new Registry(),
    onPlan: (plan) => watch.planned(plan),
  });
  const make = (name: string, source: string) =>
    intent({
      name,
      uid: crypto.randomUUID(),
      source: { hostPath: { path: source } },
      mounts: [{ path: `${prefix}/${name}` }],
    });

  async function release(name: string): Promise<void> {
    const released = watch.reported(name, ({ state }) => state === "Released");
    api.revoke(name);
    await released;
  }

  /** One volume is mounted, reported, and released again. */
  async function comeAndGo(name: string) {
    const known = watch.planHas(asVolumeName(name), "mounted");
    const reported = watch.reported(name, ({ state }) => state === "Mounted");
    const wrote = performance.now();
    api.write(make(name, `${sources}/${name}`));
    const [mount, report] = [(await known) - wrote, (await reported).at - wrote];
    const gone = watch.planHas(asVolumeName(name), "released");
    const told = watch.reported(name, ({ state }) => state === "Released");
    const revoked = performance.now();
    api.revoke(name);
    const unmount = (await gone) - revoked;
    await told;
    return { mount, report, unmount };
  }

  async function round(kind: Round["server"], number: number): Promise<Round> {
    const hung = `node.hung-${number}`;
    if (kind === "stopped") await server.stop();
    const said = watch.reported(hung, (s) => s.state === "Mounted" || s.waiting?.reason === "NotAnswering");
    const mounted = watch.reported(hung, ({ state }) => state === "Mounted");
    const rested = after(restMs);
    api.write(make(hung, `${server.point}/data`));
    const sample = {
      beginning: [] as number[],
      mount: [] as number[],
      unmount: [] as number[],
      report: [] as number[],
    };
    for (const name of others.slice(0, beside)) sample.beginning.push((await comeAndGo(name)).mount);
    const last = await said;
    await rested;
    for (const name of others) {
      const { mount, unmount, report } = await comeAndGo(name);
      sample.mount.push(mount);
      sample.unmount.push(unmount);
      sample.report.push(report);
    }
    const resumed = performance.now();
    if (kind === "stopped") server.go();
    const recoveredMs = (await mounted).at - resumed;
    await release(hung);
    const { state, waiting } = last.status;
    return {
      server: kind,
      ...sample,
      ...(kind === "stopped" && { hung: { said: `${waiting?.reason ?? state}`, recoveredMs } }),
    };
  }

  for (let number = -1; number < rounds; number++) {
    // A pair in either order, so that what grows with time falls on both; the first warms up.
    const pair = number % 2 === 0 ? (["runs", "stopped"] as const) : (["stopped", "runs"] as const);
    for (const [index, kind] of pair.entries()) {
      const measured = await round(kind, number * 2 + index);
      if (number >= 0) process.stdout.write(`${JSON.stringify(measured)}\n`);
    }
  }
  await agent.stop();
}

/** Waits for what plans and statuses say of volumes. */
class Watch {
  readonly #plans = new Map<VolumeName, { phase: "mounted" | "released"; resolve: (at: number) => void }>();
  readonly #statuses: { name: string; meets: Phase; resolve: (seen: Seen) => void }[] = [];

  constructor(api: FakeApi) {
    api.onStatus = (name, status) => {
      const seen = { at: performance.now(), status };
      for (const waiter of this.#statuses.filter((w) => w.name === name && w.meets(status))) {
        this.#statuses.splice(this.#statuses.indexOf(waiter), 1);
        waiter.resolve(seen);
      }
    };
  }

  planned({ volumes }: Plan): void {
    for (const [name, { phase, resolve }] of this.#plans) {
      const volume = volumes.get(name);
      const mounted =
        volume?.actualState.targets.every(({ truth }) => truth === "mounted") === true && volume.phase === "setUp";
      if (phase === "mounted" ? !mounted || volume.actualState.targets.length === 0 : volume?.phase !== "released")
        continue;
      this.#plans.delete(name);
      resolve(performance.now());
    }
  }

  planHas(name: VolumeName, phase: "mounted" | "released"): Promise<number> {
    return new Promise((resolve) => this.#plans.set(name, { phase, resolve }));
  }

  reported(name: string, meets: Phase): Promise<Seen> {
    return new Promise((resolve) => this.#statuses.push({ name, meets, resolve }));
  }
}

interface Seen {
  readonly at: number;
  readonly status: NodeVolumeIntentStatus;
}

void main(JSON.parse(process.argv[2] ?? "") as Work).then(
  () => process.exit(0), // mounts go with the namespace
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
