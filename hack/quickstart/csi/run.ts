// npm run quickstart -- --csi: a claim of a CSI driver on a node, from its provisioning to its end.
import { join } from "node:path";
import { buildCli } from "../../lib/bundle-cli.ts";
import { agentFlags } from "../../lib/csi/paths.ts";
import type { Sandbox } from "../../lib/sandbox/inside.ts";
import { stayUp } from "../await-ready.ts";
import { csiSampleFolder, type Demo } from "../demo.ts";
import { peopleKubeconfig, startLocalCluster } from "../local-cluster.ts";
import type { QuickstartOptions } from "../options.ts";
import type { Screen } from "../screen.ts";
import { type Beside, startBeside } from "./beside.ts";
import { openChronicle } from "./chronicle.ts";
import { csiFarewell } from "./farewell.ts";
import { needMachine } from "./needs.ts";
import { showLife } from "./show.ts";
import { takeDown } from "./take-down.ts";
import { locateForCSI } from "./tools.ts";

export interface CSIRun {
  /** The folder of the run, on the sandbox's tmpfs. */
  readonly directory: string;
  readonly options: QuickstartOptions;
  readonly sandbox: Sandbox;
  readonly screen: Screen;
}

/** The whole demonstration. Returns when it is over; throws StepError with what happened and what to do. */
export async function quickstartCSI(run: CSIRun): Promise<void> {
  const { directory, options, sandbox, screen } = run;
  const { stopped: signal } = sandbox;
  const { env } = process;
  const locate = { env, report: (line: string) => screen.note(line), signal };
  screen.step("looking at this machine: loop devices, xfs");
  const xfsprogs = await needMachine(locate);
  screen.step("looking for etcd, kube-apiserver, kubectl, kube-controller-manager and the driver's sidecars");
  screen.note("what is not in the cache is built, one after the other: the first time that takes up to half an hour");
  const tools = await locateForCSI(locate);
  const { nodes } = options;
  const local = { tools, directory, nodes, sampleFolder: csiSampleFolder, agentFlags, screen, signal, env };
  const cluster = await startLocalCluster(local);
  screen.step("starting a CSI driver on each node, its sidecars, and kube-controller-manager's part for volumes");
  const beside = await startBeside({ cluster, tools, xfsprogs, directory, env });
  for (const process of beside.processes) screen.note(`${process.name.padEnd(52)} pid ${process.pid}`);
  const demo: Demo = { ...cluster, processes: [...cluster.processes, ...beside.processes] };
  await demonstrate(demo, beside, run);
  // After a failure, and Ctrl-C, all of it ends with the sandbox.
  if (!options.once) return;
  await beside.stop();
  await cluster.remove();
  screen.step("done: nothing is left");
}

async function demonstrate(demo: Demo, beside: Beside, run: CSIRun): Promise<void> {
  const { directory, options, sandbox, screen } = run;
  await showAll(demo, beside, run);
  if (options.once) return;
  const host = demo.hosts[0];
  screen.step("what to try next");
  screen.block(
    csiFarewell({
      initPid: await sandbox.outerPid(1),
      hostPid: await sandbox.outerPid(host?.pid ?? 1),
      hosts: demo.hosts.map(({ name }) => name),
      kubectl: demo.kubectl.program,
      cli: (await buildCli()).path,
      kubeconfig: join(directory, peopleKubeconfig),
      logs: join(directory, "logs"),
    }),
  );
  await stayUp(demo, sandbox.stopped);
  screen.step("stopping; everything goes with it");
}

/** To the end of the claim's life, if that is to be shown. */
async function showAll(demo: Demo, beside: Beside, { options, sandbox, screen }: CSIRun): Promise<void> {
  using chronicle = openChronicle(demo, "archive", sandbox.stopped);
  const stage = { demo, chronicle, storage: beside.storage, screen, signal: sandbox.stopped };
  await showLife(stage);
  if (options.once) await takeDown(stage);
}
