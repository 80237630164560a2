// A pretended node: a Node object without a kubelet, and on this machine a "host" mount namespace in which everything
// is shared, with the agent in a namespace beneath it as the DaemonSet would put it. The kernel parts are real.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { eachLine } from "../lines.ts";
import { pidOf } from "../pid-of.ts";
import { type RunningProcess, startProcess } from "../process.ts";
import { root } from "../root.ts";

const run = promisify(execFile);

/** Where things are on every pretended node. */
export const layout = {
  /** The allowed prefix of config/default. */
  defaultPrefix: "/var/lib/nodevolume/mounts",
  /** What config/components/prefix-mnt allows, too. */
  prefix: "/mnt/nodevolume",
  stateDir: "/tmp/nodevolume-node/state",
  /** What is /var/lib/kubelet on a real node: sockets, staging and publish paths of CSI. */
  kubeletDir: "/tmp/nodevolume-node/kubelet",
  /** Where the agent sees the root of the host, as /host in the DaemonSet. */
  hostRoot: "/tmp/nodevolume-node/host",
} as const;

/** Of each node, and shared with its agent. */
const ownDirectories = [layout.stateDir, layout.defaultPrefix, layout.prefix, layout.kubeletDir];

export interface PretendHost {
  readonly name: string;
  /** A process that does nothing but hold the host's namespaces, as our own PID namespace numbers it. */
  readonly pid: number;
  /** Arguments with which nsenter(1) enters the host's namespaces. */
  readonly enter: readonly string[];
  /** Runs a command on the host: in its mount namespace, not the agent's. @returns stdout */
  run(command: string, ...args: string[]): Promise<string>;
  /** The host's mount table, one line of mountinfo each. */
  mounts(): Promise<string[]>;
  /** Starts a program as the agent's container would be. */
  startAgent(command: readonly string[], logFile: string, env: NodeJS.ProcessEnv): RunningProcess;
  /** Starts a program of the node itself, in its mount namespace. */
  startOn(program: string, command: readonly string[], logFile: string, env: NodeJS.ProcessEnv): RunningProcess;
  /**
   * Starts a program in a mount namespace of its own, in which every mount is the host's too, and the other way
   * (Bidirectional).
   */
  startBeside(program: string, command: readonly string[], logFile: string, env: NodeJS.ProcessEnv): RunningProcess;
  /** Ends the host: its namespace and all mounts that only it had are gone. */
  stop(): Promise<void>;
}

/** Namespaces that a host may have of its own, besides that of its mounts. */
export type OwnNamespace = "pid" | "net";

/**
 * Makes the host of a pretended node. Needs root, and only makes sense in a sandbox.
 * @param own with "pid", the process that holds the host is its process 1, and every process of it ends with that
 */
export async function startPretendHost(name: string, own: readonly OwnNamespace[] = []): Promise<PretendHost> {
  const script = join(root, "hack/lib/pretend-node/host.sh");
  const cover = [process.execPath, join(root, "hack/lib/sandbox/cover-main.ts")];
  const forks = own.includes("pid") ? ["--fork", "--kill-child", "--mount-proc"] : [];
  const namespaces = ["--mount", "--propagation", "private", ...own.map((one) => `--${one}`), ...forks];
  const holder = spawn("unshare", [...namespaces, "sh", script, ...cover, ...ownDirectories], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => holder.on("exit", () => resolve()));
  let complaint = "";
  eachLine(holder.stderr, (line) => {
    complaint = line;
  });
  await new Promise<void>((resolve, reject) => {
    eachLine(holder.stdout, () => resolve());
    void ended.then(() => reject(new Error(`the mount namespace of ${name} could not be made: ${complaint}`)));
  });
  const pid = own.includes("pid") ? onlyChildOf(holder) : pidOf(holder);
  const enter = [`--mount=/proc/${pid}/ns/mnt`, ...own.map((one) => `--${one}=/proc/${pid}/ns/${one}`)];
  // Into a PID namespace nsenter forks: whoever ends it, ends what it has started.
  const together = own.includes("pid") ? ["setpriv", "--pdeathsig", "KILL"] : [];
  return {
    name,
    pid,
    enter,
    run: async (command, ...args) => (await run("nsenter", [...enter, "--", command, ...args])).stdout,
    mounts: async () => (await run("cat", [`/proc/${pid}/mountinfo`])).stdout.trimEnd().split("\n"),
    startAgent: (command, logFile, env) =>
      startProcess({
        name: `agent of ${name}`,
        command: "nsenter",
        args: [
          ...enter,
          "--",
          ...together,
          "unshare",
          "--mount",
          "--propagation",
          "unchanged",
          "sh",
          ...agentScript(),
          ...command,
        ],
        logFile,
        env,
      }),
    startOn: (program, command, logFile, env) =>
      startProcess({
        name: `${program} of ${name}`,
        command: "nsenter",
        args: [...enter, "--", ...together, ...command],
        logFile,
        env,
      }),
    startBeside: (program, command, logFile, env) =>
      startProcess({
        name: `${program} of ${name}`,
        command: "nsenter",
        args: [...enter, "--", ...together, "unshare", "--mount", "--propagation", "unchanged", ...command],
        logFile,
        env,
      }),
    async stop() {
      holder.kill("SIGKILL");
      await ended;
    },
  };
}

/** The pid of the one child of a process. */
function onlyChildOf(parent: ChildProcess): number {
  const pid = pidOf(parent);
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"));
}

function agentScript(): string[] {
  return [join(root, "hack/lib/pretend-node/agent.sh"), layout.hostRoot, ownDirectories.join(":")];
}
