// CSI drivers on pretended nodes, each beside the agent in a mount namespace of its own, as a DaemonSet's container
// would be.
import { join } from "node:path";
import type { PretendHost } from "../pretend-node/node.ts";
import { type RunningProcess, StepError } from "../process.ts";
import { root } from "../root.ts";
import type { Xfsprogs } from "../tools/xfsprogs.ts";
import { until } from "../until.ts";
import { csiDir, registrationDir, registrationSocketOf, seenFromOutside, socketOf } from "./paths.ts";
import type { CSIStorage } from "./storage.ts";

export interface DriverProgram {
  /** As GetPluginInfo says it. */
  readonly name: string;
  readonly nodeID: string;
  /** @param socket where it shall listen */
  command(socket: string): readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

export interface RunningDriver {
  readonly name: string;
  readonly nodeID: string;
  /** Its socket, as processes of the node name it. */
  readonly socket: string;
  /** The same, for sidecars, which are outside. */
  readonly outside: string;
  process: RunningProcess;
  registrar: RunningProcess | undefined;
  /** Starts it again after it was killed; state is the storage's and the kernel's. */
  restart(): Promise<void>;
  /** Starts what registers it; again, if it ended. */
  register(flags?: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

export interface LoopXfsOptions {
  readonly storage: CSIStorage;
  readonly xfsprogs: Xfsprogs;
  readonly name?: string;
  /** Further flags, such as --no-attach. */
  readonly flags?: readonly string[];
}

export const loopXfsName = "loop-xfs.csi.nodevolume.test";

/** The driver of test/drivers/loop-xfs. */
export function loopXfs(nodeID: string, options: LoopXfsOptions): DriverProgram {
  const { storage, xfsprogs, name = loopXfsName, flags = [] } = options;
  const script = join(root, "test/drivers/loop-xfs/main.ts");
  const own = ["--name", name, "--node-id", nodeID, "--data", storage.directory, "--control", storage.control];
  const programs = ["--mkfs", xfsprogs.mkfs, "--growfs", xfsprogs.growfs];
  return {
    name,
    nodeID,
    command: (socket) => [process.execPath, script, "--endpoint", socket, ...own, ...programs, ...flags],
    ...(xfsprogs.libraries === undefined ? {} : { env: { LD_LIBRARY_PATH: xfsprogs.libraries } }),
  };
}

/** The host-path driver. @param attach CSIDriver.attachRequired must agree with it */
export function hostPath(
  nodeID: string,
  program: string,
  stateDir: string,
  attach = true,
  name = "hostpath.csi.k8s.io",
): DriverProgram {
  const flags = [`--drivername=${name}`, `--nodeid=${nodeID}`, `--statedir=${stateDir}`];
  const modes = ["--enable-topology=false", ...(attach ? ["--enable-attach"] : []), "--v=5", "--logtostderr"];
  const command = (socket: string) => [program, `--endpoint=unix://${socket}`, ...flags, ...modes];
  return { name, nodeID, command };
}

/** The mock driver of csi-test. @param hooks file with JavaScript hooks, by which it fails as a test wants */
export function mockDriver(program: string, hooks?: string): DriverProgram {
  const name = "io.kubernetes.storage.mock";
  const nodeID = name; // on every node
  const flags = ["-permissive-target-path", ...(hooks === undefined ? [] : ["-hooks-file", hooks])];
  // It takes its socket from the environment.
  return { name, nodeID, command: (socket) => ["env", `CSI_ENDPOINT=${socket}`, program, "-name", name, ...flags] };
}

/** Milliseconds until a driver listens; a second is usual. */
const patience = 30_000;

export async function startDriver(
  host: PretendHost,
  program: DriverProgram,
  options: { readonly logs: string; readonly env: NodeJS.ProcessEnv },
): Promise<RunningDriver> {
  const { name, nodeID } = program;
  const socket = socketOf(name);
  await host.run("mkdir", "-p", join(socket, ".."), registrationDir, csiDir);
  const env = { ...options.env, ...program.env };
  const logFile = join(options.logs, `${name}-${host.name}.log`);
  const start = async () => {
    await host.run("rm", "-f", socket);
    const running = host.startBeside(name, program.command(socket), logFile, env);
    await listening(host, running, socket);
    return running;
  };
  const driver: RunningDriver = {
    name,
    nodeID,
    socket,
    outside: seenFromOutside(host, socket),
    process: await start(),
    registrar: undefined,
    async restart() {
      await driver.process.stop();
      driver.process = await start();
    },
    async register(flags = []) {
      await driver.registrar?.stop();
      const script = join(root, "test/drivers/registrar/main.ts");
      const on = registrationSocketOf(name);
      const command = [process.execPath, script, "--csi-address", socket, "--socket", on, ...flags];
      driver.registrar = host.startBeside(
        `registrar of ${name}`,
        command,
        join(options.logs, `registrar-${host.name}.log`),
        env,
      );
      await listening(host, driver.registrar, on);
    },
    async stop() {
      await driver.registrar?.stop();
      await host.run("rm", "-f", registrationSocketOf(name));
      await driver.process.stop();
    },
  };
  return driver;
}

async function listening(host: PretendHost, running: RunningProcess, socket: string): Promise<void> {
  await until(`${running.name} to listen`, patience, async () => {
    const { name, logFile } = running;
    const ending = running.ending();
    if (ending !== undefined) throw new StepError(`${name} ${ending}`, { logFile, remedy: "its log says why" });
    return host.run("test", "-S", socket).then(
      () => true,
      () => false,
    );
  });
}
