import { resource, systemNamespace } from "../../api/names.ts";
import { resourcePath } from "../../kube/client/resource-path.ts";
import type { Transport } from "../../kube/client/transport.ts";
import { isRecord } from "../../kube/json.ts";
import { ask, askText, findAll, whyNot } from "./asking.ts";
import type { Bundle } from "./bundle.ts";
import { type Part, partsOf } from "./parts.ts";
import { chosenPods, type OurPod, ourPod } from "./pods.ts";
import { trimmedWorkload } from "./trim.ts";
import { troubles } from "./troubles.ts";

/** Dependencies of gathering a support bundle. */
export interface GatherDeps {
  readonly transport: Transport;
  readonly bundle: Bundle;
  readonly node: string | undefined;
  /** Of this program. */
  readonly version: string;
  /** The commit that it was built from. */
  readonly revision: string;
  /** One line for whoever waits. */
  progress(line: string): void;
  /** Throws when it shall end. */
  checkpoint(): void;
}

/** Lines and bytes of one log. */
const logLimits = { tailLines: "5000", limitBytes: String(4 * 1024 * 1024) };
const logTimeoutMs = 20_000;
const metricsTimeoutMs = 10_000;

/** Reads all of it, one after the other. @throws only if there is no cluster to ask, or nobody of it knows who asks */
export async function gather(deps: GatherDeps): Promise<void> {
  const { transport, bundle, node, version, revision, progress } = deps;
  const server = await ask(transport, "/version");
  const troubled: string[] = [];
  for (const part of partsOf(node)) {
    deps.checkpoint();
    const items = await addPart(deps, part);
    troubled.push(...troubles(part.resource.kind, items));
  }
  const objects = await addPart(deps, podsPart);
  troubled.push(...troubles(resource.pods.kind, objects));
  bundle.add("troubles.txt", troubled.map((line) => `${line}\n`).join("") || "Every condition is as it should be.\n");
  const images = [...new Set(objects.flatMap(imagesOf))].sort();
  bundle.add("versions.json", json({ kubectlNvi: version, revision, kubernetes: server, images }));
  const { chosen, leftOut } = chosenPods(objects.map(ourPod), node);
  if (leftOut.length > 0) {
    bundle.gap(`logs and metrics of ${leftOut.length} agents`, `there are many: --node NAME takes those of a node`);
  }
  if (node !== undefined && !chosen.some((pod) => pod.node === node && pod.role === "agent")) {
    bundle.gap(`the agent of ${node}`, `no pod of an agent was found there`);
  }
  for (const pod of chosen) {
    deps.checkpoint();
    progress(`log and metrics of ${pod.name}`);
    await addLogs(deps, pod);
    await addMetrics(deps, pod);
  }
}

async function addPart({ transport, bundle, progress }: GatherDeps, part: Part): Promise<readonly unknown[]> {
  const { items, gap } = await findAll(transport, part.resource, part.select);
  const kept = part.keep === undefined ? items : items.filter(part.keep);
  if (gap !== undefined) bundle.gap(part.path, gap);
  if (gap === undefined || kept.length > 0) bundle.add(part.path, json(kept.map(part.trim)));
  progress(`${part.path}: ${gap === undefined ? kept.length : gap}`);
  return kept;
}

/** By label: others may run something of theirs in our namespace. */
const podsPart: Part = {
  path: "system/pods.json",
  resource: resource.pods,
  select: { namespace: systemNamespace, labelSelector: "app.kubernetes.io/name=node-volume-operator" },
  trim: trimmedWorkload,
};

function imagesOf(pod: unknown): string[] {
  const text = JSON.stringify(isRecord(pod) ? (pod["status"] ?? pod["spec"]) : pod);
  return [...text.matchAll(/"image(?:ID)?":"([^"]+)"/g)].map(([, image = ""]) => image);
}

async function addLogs({ transport, bundle }: GatherDeps, pod: OurPod): Promise<void> {
  const path = `${resourcePath(resource.pods, { namespace: systemNamespace, name: pod.name })}/log`;
  for (const { name: container, restarts } of pod.containers) {
    for (const previous of restarts > 0 ? [false, true] : [false]) {
      const file = `logs/${pod.name}/${container}${previous ? ".previous" : ""}.log`;
      const query = { container, ...logLimits, ...(previous && { previous: "true" }) };
      try {
        const text = await askText(transport, path, query, logTimeoutMs);
        if (bundle.add(file, text) && Buffer.byteLength(text) >= Number(logLimits.limitBytes))
          bundle.gap(file, `it is longer than ${logLimits.limitBytes} bytes: its newest lines are missing`);
      } catch (error) {
        bundle.gap(file, whyNot(error, "get pods/log", systemNamespace));
      }
    }
  }
}

async function addMetrics({ transport, bundle }: GatherDeps, { name, port }: OurPod): Promise<void> {
  const file = `metrics/${name}.txt`;
  if (port === undefined) return bundle.gap(file, "the pod names no port `metrics`");
  const path = `${resourcePath(resource.pods, { namespace: systemNamespace, name })}:${port}/proxy/metrics`;
  try {
    bundle.add(file, await askText(transport, path, {}, metricsTimeoutMs));
  } catch (error) {
    bundle.gap(file, whyNot(error, "get pods/proxy", systemNamespace));
  }
}

/** PURE. A value as indented JSON. */
export function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 1)}\n`;
}
