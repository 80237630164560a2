// A real API server with RBAC and policies on, and the transport of an agent twice: by itself, and through a proxy
// process.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fieldManager, resource } from "../../../src/api/names.ts";
import { createKubeClient } from "../../../src/kube/client/client.ts";
import { createRealTransport } from "../../../src/kube/client/real-transport.ts";
import type { Transport } from "../../../src/kube/client/transport.ts";
import { realSystem } from "../../../src/system.ts";
import { createApiClient } from "../../lib/api-client.ts";
import { writeKubeconfig } from "../../lib/control-plane/credentials.ts";
import { agentIdentity, requestToken } from "../../lib/control-plane/identities.ts";
import { installProject } from "../../lib/control-plane/install.ts";
import { startControlPlane } from "../../lib/control-plane/start.ts";
import { createKubectl } from "../../lib/kubectl.ts";
import { createNodeObject } from "../../lib/pretend-node/object.ts";
import { startApiProxy } from "../../lib/roles.ts";
import { silent } from "../../lib/silent-log.ts";
import { locateTools } from "../../lib/tools/locate.ts";
import { until } from "../../lib/until.ts";
import { processFigures } from "../../proof/steady/process-figures.ts";
import { intentBody } from "../through-api/intents.ts";

/** Milliseconds of each, in the order in which they were measured. */
interface Ways {
  readonly direct: number[];
  readonly proxied: number[];
}

export interface Measured {
  readonly write: Ways;
  /** From the begin of a write, whichever way, to its event at the watch of each way. */
  readonly event: Ways;
  /** Bytes of the proxy at the end. */
  readonly resident: number;
  readonly idleMs: number;
  readonly idleProcessorMs: number;
  /** Of the proxy, while `requests` were written through it. */
  readonly busyProcessorMs: number;
  readonly requests: number;
}

export interface MeasureOptions {
  readonly writes: number;
  readonly idleMs: number;
  readonly directory: string;
  readonly report: (line: string) => void;
}

const name = "bench.volume-0123456789";
const warmUp = 30;
const patience = 30_000;

export async function measure({ writes, idleMs, directory, report }: MeasureOptions): Promise<Measured> {
  const tools = await locateTools({ env: process.env, report });
  const plane = await startControlPlane({ tools, directory: join(directory, "control-plane"), measured: true });
  const { admin, server, ca, credentials } = plane;
  const kubeconfig = join(directory, "control-plane/admin.kubeconfig");
  writeKubeconfig(kubeconfig, { server, ca, user: "bootstrap-admin", token: credentials.adminToken });
  await installProject({ kubectl: createKubectl(plane.kubectl, kubeconfig), admin, server, ca });
  const node = await createNodeObject(admin, "bench");
  const identity = await agentIdentity(plane, node, join(directory, "agent"));
  const controller = createApiClient({ server, ca, token: await requestToken(admin, "nodevolume-controller") });
  const path = "/apis/nodevolume.dev/v1alpha1/nodevolumeintents";
  const made = await controller.call("POST", path, { body: intentBody(name, "mem", node) });
  if (made.status !== 201) throw new Error(`the intent: ${made.status} ${JSON.stringify(made.body)}`);

  const proxy = startApiProxy("bench", { server, identity, logFile: join(directory, "proxy.log"), env: process.env });
  const system = realSystem(silent);
  const transportTo = (to: string) =>
    createRealTransport({ system, access: { server: to, ...identity }, userAgent: "bench" });
  const transports = { direct: await transportTo(server), proxied: await transportTo(proxy.apiServer) };
  try {
    const seen = { direct: new Map<string, number>(), proxied: new Map<string, number>() };
    const { direct, proxied } = transports;
    await until("the proxy to answer", patience, () =>
      proxied.request({ method: "GET", path: `${path}/${name}` }).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    const cancel = [watch(direct, seen.direct), watch(proxied, seen.proxied)];
    const results = { write: ways(), event: ways() };
    let { resourceVersion, uid } = made.body["metadata"] as { resourceVersion: string; uid: string };
    let busySince = 0;
    for (let i = -warmUp; i < writes * 2; i++) {
      if (i === 0) busySince = processorMs(proxy.pid);
      const way = i % 2 === 0 ? "direct" : "proxied";
      const client = createKubeClient({ transport: transports[way], fieldManager: fieldManager.agent });
      const status = { state: "Mounted", agent: { epoch: i + warmUp + 1, bootID: "b" } };
      const begun = performance.now();
      const written = await client.mergePatchStatus(resource.intents, { name, uid, resourceVersion }, status);
      const answered = performance.now();
      resourceVersion = written.metadata.resourceVersion ?? "";
      const at = resourceVersion;
      await until("both events", patience, () => seen.direct.has(at) && seen.proxied.has(at));
      if (i < 0) continue;
      results.write[way].push(answered - begun);
      for (const one of ["direct", "proxied"] as const) results.event[one].push((seen[one].get(at) ?? 0) - begun);
    }
    const busyProcessorMs = processorMs(proxy.pid) - busySince;
    report(`${writes} writes by either way are measured; at rest for ${idleMs / 1000} s`);
    const restSince = processorMs(proxy.pid);
    await sleep(idleMs);
    const idleProcessorMs = processorMs(proxy.pid) - restSince;
    const { rssBytes: resident } = processFigures(proxy.pid);
    for (const end of cancel) end();
    return { ...results, resident, idleMs, idleProcessorMs, busyProcessorMs, requests: writes };
  } finally {
    for (const transport of Object.values(transports)) transport.close();
    await proxy.stop();
    controller.close();
    await plane.stop();
  }
}

const ways = (): Ways => ({ direct: [], proxied: [] });

/** Notes when each version of the intent was seen. */
function watch(transport: Transport, seen: Map<string, number>): () => void {
  const query = {
    watch: "true",
    allowWatchBookmarks: "true",
    timeoutSeconds: "599",
    fieldSelector: "spec.nodeName=bench",
  };
  const initial = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" };
  const request = {
    method: "GET",
    path: "/apis/nodevolume.dev/v1alpha1/nodevolumeintents",
    query: { ...query, ...initial },
  } as const;
  return transport.stream(request, {
    onObject(event) {
      const { object } = event as { object?: { metadata?: { resourceVersion?: string } } };
      seen.set(object?.metadata?.resourceVersion ?? "", performance.now());
    },
    onEnd() {}, // the event that is waited for does not come then
  });
}

/** Of user and system, by the clock's ticks of ten milliseconds. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
