import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { setLabelPrefix } from "../../src/api/names.ts";
import { buildCli } from "../lib/bundle-cli.ts";
import { StepError } from "../lib/process.ts";
import { awaitReady } from "./await-ready.ts";
import { type Demo, failingFolder } from "./demo.ts";
import { type Screen, silent } from "./screen.ts";

const run = promisify(execFile);

/** The set of the sample, and the directory that nobody has made. */
export const failingSet = "reports";
const source = "/mnt/quickstart-reports";

/** Milliseconds; it takes one or two seconds. */
const patience = 60_000;

/** A volume that cannot be mounted: why, in words, and that it comes by itself once it can. */
export async function showFailure(demo: Demo, screen: Screen, signal: AbortSignal): Promise<void> {
  screen.step(`kubectl apply -k ${failingFolder}; kubectl nvi explain ${failingSet}`);
  const { path } = await buildCli();
  await demo.kubectl.run(["apply", "--server-side", "-f", "-"], demo.failing);
  await untilItWaits(demo, signal);
  const env = { ...process.env, KUBECONFIG: demo.kubectl.kubeconfig };
  screen.block((await run(process.execPath, [path, "explain", failingSet], { env })).stdout);
  screen.step(`mkdir ${source}, on the host of ${demo.hosts.map(({ name }) => name).join(", ")}`);
  const began = performance.now();
  for (const host of demo.hosts) await host.run("mkdir", source);
  await awaitReady(demo, [failingSet], silent(screen), signal);
  screen.note(`mounted by itself ${Math.round(performance.now() - began)} ms later`);
}

interface IntentInBrief {
  readonly spec: { readonly nodeName: string };
  readonly status?: { readonly waiting?: { readonly reason: string } };
}

/** Until each node has said why it cannot. @throws StepError if it takes too long */
async function untilItWaits(demo: Demo, signal: AbortSignal): Promise<void> {
  const path = `/apis/nodevolume.dev/v1alpha1/nodevolumeintents?labelSelector=${encodeURIComponent(`${setLabelPrefix}${failingSet}`)}`;
  const deadline = performance.now() + patience;
  for (;;) {
    const intents = ((await demo.client.call("GET", path)).body["items"] ?? []) as IntentInBrief[];
    const waits = ({ name }: { name: string }) =>
      intents.some(({ spec, status }) => spec.nodeName === name && status?.waiting?.reason === "SourceNotFound");
    if (demo.hosts.every(waits)) return;
    if (signal.aborted) throw new Error("stopped");
    if (performance.now() > deadline) {
      throw new StepError(`no agent said within ${patience / 1000} s that ${source} is missing`, {
        details: intents.map((intent) => JSON.stringify(intent.status ?? {})),
        remedy: "kubectl get nodevolumeintents -o yaml says what they do",
      });
    }
    await sleep(100);
  }
}
