import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { pidOf } from "../../../lib/pid-of.ts";
import { takenBy } from "../resources-of.ts";
import type { Way } from "./agent.ts";
import type { Order, Pulse, Seen } from "./fleet-process.ts";

export interface FleetAccess {
  readonly server: string;
  readonly ca: string;
  readonly way: Way;
}

export interface AgentIdentity {
  readonly node: string;
  readonly token: string;
}

/** All agents, in several processes. */
export interface Fleet {
  /** Starts further agents, so many a second. */
  start(agents: readonly AgentIdentity[], perSecond: number): void;
  /** From now on they renew their Leases, each at a moment of its own within `overMs`. */
  startLeases(overMs: number): void;
  /** Told of each intent that an agent has read in another generation. */
  onSeen(tell: (seen: Seen) => void): void;
  total(): Total;
  /** Processor seconds and MiB of all processes. */
  taken(): { readonly cpuSeconds: number; readonly rssMiB: number };
  stop(): Promise<void>;
}

export type Total = Omit<Pulse, "seen">;

/** MiB of a process's heap: some thousand agents, each with two stores. */
const heapMiB = 4_000;

/** @param ended told when a process ends by itself */
export function createFleet(access: FleetAccess, processes: number, ended: (why: string) => void): Fleet {
  const pulses: (Pulse | undefined)[] = [];
  let tell: (seen: Seen) => void = () => {};
  let stopping = false;
  const children = Array.from({ length: processes }, (_, index) => {
    const child = fork(join(import.meta.dirname, "fleet-process.ts"), {
      execArgv: [`--max-old-space-size=${heapMiB}`],
      env: { ...process.env, UV_THREADPOOL_SIZE: "2" },
    });
    child.on("message", (pulse: Pulse) => {
      pulses[index] = pulse;
      for (const one of pulse.seen) tell(one);
    });
    child.on("exit", (code, signal) => {
      if (!stopping) ended(`a process of agents ended: ${code ?? signal}`);
    });
    return child;
  });
  const send = (child: ChildProcess | undefined, order: Order) => child?.send(order);
  let started = 0;
  return {
    start(agents, perSecond) {
      const shares = children.map((_, index) => agents.filter((__, at) => (started + at) % children.length === index));
      const overMs = (agents.length / perSecond) * 1000;
      for (const [index, share] of shares.entries()) {
        send(children[index], { do: "start", ...access, agents: share, overMs });
      }
      started += agents.length;
    },
    startLeases(overMs) {
      for (const child of children) send(child, { do: "startLeases", overMs });
    },
    onSeen(listener) {
      tell = listener;
    },
    total: () => pulses.reduce<Total>((sum, pulse) => (pulse === undefined ? sum : added(sum, pulse)), nothing),
    taken() {
      const all = children.map((child) => takenBy(pidOf(child)));
      const sum = (of: "cpuSeconds" | "rssMiB") => all.reduce((total, one) => total + one[of], 0);
      return { cpuSeconds: sum("cpuSeconds"), rssMiB: sum("rssMiB") };
    },
    async stop() {
      stopping = true;
      const gone = children
        .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
        .map((child) => new Promise<void>((resolve) => child.once("exit", () => resolve())));
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(gone);
    },
  };
}

const nothing: Total = { agents: 0, connected: 0, opening: 0, said: {}, restarts: {}, failures: {} };

/** PURE. */
export function added(a: Total, b: Total): Total {
  return {
    agents: a.agents + b.agents,
    connected: a.connected + b.connected,
    opening: a.opening + b.opening,
    said: addedCounts(a.said, b.said),
    restarts: addedCounts(a.restarts, b.restarts),
    failures: addedCounts(a.failures, b.failures),
  };
}

type Counts = { readonly [what: string]: number };

function addedCounts(a: Counts, b: Counts): Counts {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}
