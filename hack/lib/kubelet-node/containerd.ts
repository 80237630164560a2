import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { PretendHost } from "../pretend-node/node.ts";
import { type RunningProcess, StepError } from "../process.ts";
import type { NodeToolPaths } from "../tools/locate.ts";
import { until } from "../until.ts";
import { podImage, writePodImage } from "./image.ts";

export interface ContainerdOptions {
  readonly host: PretendHost;
  readonly tools: NodeToolPaths;
  /** All that it writes is beneath this folder, and beneath /run. */
  readonly directory: string;
  readonly logs: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Containerd {
  readonly socket: string;
  readonly process: RunningProcess;
  importImage(archive: string): Promise<void>;
  /** Ends containers that still run, and then containerd. */
  stop(): Promise<void>;
}

/** Milliseconds for it to answer; one second is usual. */
const patience = 60_000;

/** Starts containerd on the node, with the image of the pods. */
export async function startContainerd(options: ContainerdOptions): Promise<Containerd> {
  const { host, tools, directory, logs } = options;
  mkdirSync(join(directory, "cni"), { recursive: true });
  const socket = join(directory, "containerd.sock");
  const file = join(directory, "config.toml");
  writeFileSync(file, configOf(directory, socket, tools));
  // Never called: all pods are in the node's network. Without a file the node would not become Ready.
  const plugins = [{ type: "loopback" }];
  writeFileSync(
    join(directory, "cni", "10-none.conflist"),
    JSON.stringify({ cniVersion: "1.0.0", name: "none", plugins }),
  );
  const beside = [tools["containerd-shim-runc-v2"], tools.runc].map((path) => dirname(path));
  const env = { ...options.env, PATH: [...beside, options.env["PATH"]].join(delimiter) };
  const process = host.startOn("containerd", [tools.containerd, "-c", file], join(logs, "containerd.log"), env);
  const ctr = (...args: string[]) => host.run(tools.ctr, "--address", socket, "--namespace", "k8s.io", ...args);
  await until("containerd to answer", patience, () => {
    const ending = process.ending();
    if (ending !== undefined)
      throw new StepError(`containerd ${ending}`, { logFile: process.logFile, remedy: "its log says why" });
    return ctr("version").then(
      () => true,
      () => false,
    );
  });
  const archive = join(directory, "image.tar");
  writePodImage(tools["pod-program"], archive);
  const importImage = async (path: string) => void (await ctr("images", "import", path));
  await importImage(archive);
  return {
    socket,
    process,
    importImage,
    async stop() {
      const lines = async (...args: string[]) => (await ctr(...args)).split("\n").filter((line) => line !== "");
      // What is just being made or ended by itself is not there any more when its turn comes; what stays keeps its
      // cgroup, which is told.
      const attempt = (...args: string[]) => ctr(...args).catch(() => undefined);
      for (const task of await lines("tasks", "list", "--quiet")) await attempt("tasks", "delete", "--force", task);
      for (const one of await lines("containers", "list", "--quiet")) await attempt("containers", "delete", one);
      await process.stop();
    },
  };
}

function configOf(directory: string, socket: string, tools: NodeToolPaths): string {
  const cri = "plugins.'io.containerd.cri.v1";
  return `version = 3
root = '${directory}/root'
state = '${directory}/state'
imports = []
disabled_plugins = [
  'io.containerd.nri.v1.nri',
  'io.containerd.image-verifier.v1.bindir',
  'io.containerd.snapshotter.v1.blockfile',
  'io.containerd.snapshotter.v1.erofs',
  'io.containerd.differ.v1.erofs',
  'io.containerd.mount-handler.v1.erofs',
]
[grpc]
  address = '${socket}'
[${cri}.images']
  snapshotter = 'overlayfs'
  [${cri}.images'.pinned_images]
    sandbox = '${podImage}'
[${cri}.runtime']
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  disable_apparmor = true
  [${cri}.runtime'.containerd]
    default_runtime_name = 'runc'
    [${cri}.runtime'.containerd.runtimes.runc]
      runtime_type = 'io.containerd.runc.v2'
      [${cri}.runtime'.containerd.runtimes.runc.options]
        BinaryName = '${tools["runc-without-seccomp"]}'
        SystemdCgroup = false
  [${cri}.runtime'.cni]
    bin_dirs = ['${directory}/cni']
    conf_dir = '${directory}/cni'
[plugins.'io.containerd.grpc.v1.cri']
  stream_server_address = '127.0.0.1'
  stream_server_port = '0'
[plugins.'io.containerd.internal.v1.opt']
  path = '${directory}/opt'
`;
}
