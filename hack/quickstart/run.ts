import { join } from "node:path";
import { buildCli } from "../lib/bundle-cli.ts";
import type { Sandbox } from "../lib/sandbox/inside.ts";
import { locateTools } from "../lib/tools/locate.ts";
import { awaitMounts } from "./await-mounts.ts";
import { awaitReady, awaitSummaries, stayUp } from "./await-ready.ts";
import { quickstartCSI } from "./csi/run.ts";
import { type Demo, sampleFolder } from "./demo.ts";
import { startOnExistingCluster } from "./existing-cluster.ts";
import { failingSet, showFailure } from "./explain-failure.ts";
import { farewell } from "./farewell.ts";
import { peopleKubeconfig, startLocalCluster } from "./local-cluster.ts";
import type { QuickstartOptions } from "./options.ts";
import { showRepair } from "./repair.ts";
import { oursOn, showRestart, tellRestarts } from "./restart.ts";
import { type Screen, silent } from "./screen.ts";

/** The folder of a run, on the sandbox's tmpfs. */
const directory = "/tmp/nodevolume-quickstart";
const sets = ["scratch", "shared-data", "settings"];
const all = [...sets, failingSet];
const victim = "/var/lib/nodevolume/mounts/scratch";

/**
 * The demonstration that was asked for. Returns when it is over; throws StepError with what happened and what to do.
 */
export async function quickstart(options: QuickstartOptions, sandbox: Sandbox, screen: Screen): Promise<void> {
  if (options.csi) return quickstartCSI({ directory, options, sandbox, screen });
  const env = process.env;
  screen.step("looking for etcd, kube-apiserver and kubectl");
  const tools = await locateTools({ env, report: (line) => screen.note(line), signal: sandbox.stopped });
  const common = { directory, screen, env, signal: sandbox.stopped };
  const demo =
    options.existing === undefined
      ? await startLocalCluster({ ...common, tools, nodes: options.nodes, sampleFolder })
      : await startOnExistingCluster({ ...common, ...options.existing, kubectl: tools.kubectl });
  try {
    await demonstrate(demo, options, sandbox, screen);
  } finally {
    // A cluster of our own ends with the sandbox, however this went; on another one something has been made.
    if (options.existing !== undefined || options.once) await demo.remove();
  }
  if (options.once) screen.step("done: nothing is left");
}

async function demonstrate(demo: Demo, options: QuickstartOptions, sandbox: Sandbox, screen: Screen): Promise<void> {
  await show(demo, screen, sandbox.stopped);
  if (options.once) return takeDown(demo, screen);
  const host = demo.hosts[0];
  screen.step("what to try next");
  screen.block(
    farewell({
      initPid: await sandbox.outerPid(1),
      hostPid: await sandbox.outerPid(host?.pid ?? 1),
      hostName: host?.name ?? "",
      agentPid: await sandbox.outerPid(demo.agents[0]?.pid ?? 1),
      kubectl: demo.kubectl.program,
      cli: (await buildCli()).path,
      kubeconfig: join(directory, peopleKubeconfig),
      logs: join(directory, "logs"),
    }),
  );
  tellRestarts(demo, screen, sandbox);
  await stayUp(demo, sandbox.stopped);
  screen.step("stopping; everything goes with it");
}

/**
 * Applies the sample, waits, and shows the tables, the kernel's mounts, a failure, a repair, and an agent that ends.
 */
async function show(demo: Demo, screen: Screen, signal: AbortSignal): Promise<void> {
  screen.step(`kubectl apply -k ${sampleFolder}`);
  const applied = (await demo.kubectl.run(["apply", "--server-side", "-f", "-"], demo.sample)).trim().split("\n");
  screen.note(`${applied.length} objects, of these the sets ${sets.join(", ")}`);
  screen.step("waiting until every node has what the sets say");
  await awaitReady(demo, sets, screen, signal);
  await awaitMounts(demo, sets, screen, signal);
  await awaitSummaries(demo, signal);
  await showTables(demo, screen);
  await showMounts(demo, screen);
  await showFailure(demo, screen, signal);
  await breakAndRepair(demo, screen, signal);
  await showRestart(demo, victim, screen);
  await awaitReady(demo, all, silent(screen), signal);
}

async function showTables(demo: Demo, screen: Screen): Promise<void> {
  const args = ["get", "nodevolumesets,nodevolumeintents,nodevolumestates"];
  screen.step(`kubectl ${args.join(" ")}`);
  screen.block(await demo.kubectl.run(args));
}

async function showMounts(demo: Demo, screen: Screen): Promise<void> {
  for (const host of demo.hosts) {
    screen.step(`grep /var/lib/nodevolume/mounts/ /proc/self/mountinfo, on the host of ${host.name}`);
    screen.block((await oursOn(host)).join("\n"));
  }
}

async function breakAndRepair(demo: Demo, screen: Screen, signal: AbortSignal): Promise<void> {
  const host = demo.hosts[0];
  if (host === undefined) return;
  await showRepair(demo, host, victim, screen);
  await awaitReady(demo, sets, silent(screen), signal);
}

async function takeDown(demo: Demo, screen: Screen): Promise<void> {
  screen.step(`kubectl delete nodevolumesets ${all.join(" ")}`);
  await demo.kubectl.run(["delete", "nodevolumesets", ...all, "--timeout=60s"]);
  for (const host of demo.hosts) {
    const left = await oursOn(host);
    if (left.length > 0) throw new Error(`still mounted on ${host.name} after the deletion:\n${left.join("\n")}`);
  }
  screen.note("and the kernel agrees: nothing is mounted beneath /var/lib/nodevolume/mounts on any node");
}
