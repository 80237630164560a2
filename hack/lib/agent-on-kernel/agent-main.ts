// The process of a KernelAgent: node agent-main.ts OPTIONS-AS-JSON. A real agent on the real kernel, with a fake API
// server.

import { Registry } from "prom-client";
import { startAgent } from "../../../src/agent/start.ts";
import type { PodVolumeError } from "../../../src/csi/server/ports.ts";
import { prepareStateDirectories } from "../../../src/host/linux/files/state-directories.ts";
import { linuxHost } from "../../../src/host/linux/linux-host.ts";
import { loadLibc } from "../../../src/host/linux/syscall/libc.ts";
import type { Transport } from "../../../src/kube/client/transport.ts";
import type { Logger } from "../../../src/ports.ts";
import { realSystem } from "../../../src/system.ts";
import { noDrivers } from "../no-drivers.ts";
import { silent } from "../silent-log.ts";
import type { AgentOptions, Order, PodOrder, Word } from "./agent-words.ts";
import { FakeApi } from "./fake-api.ts";

const { stateDir, kubeletDir, prefixes, deadlineMs, childCommand, log, tellsAll, intents } = JSON.parse(
  process.argv[2] ?? "",
) as AgentOptions;
const api = new FakeApi();
const registry = new Registry();
api.onStatus = (name, status) => tell({ name, status });
for (const intent of intents) api.write(intent);
process.on("message", (order: Order) => {
  if ("write" in order) api.write(order.write);
  else if ("revoke" in order) api.revoke(order.revoke);
  else if ("secret" in order) api.writeSecret(order.secret.namespace, order.secret.name, order.secret.values);
  else if ("metrics" in order) void registry.metrics().then((text) => tell({ output: "metrics", text }));
  else callOfPod(order);
});
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));

const libc = loadLibc();
const logger: Logger = {
  ...silent,
  ...(log && { info: print }),
  warn(message, meta) {
    if (log) print(message, meta);
    if (message === "failed") tell({ name: String(meta?.["intent"]), attempts: Number(meta?.["attempts"]) });
  },
  error(message, meta) {
    print(message, meta);
    tell({ error: `${message} ${JSON.stringify(meta ?? {})}` });
  },
  child: () => logger,
};
const system = realSystem(logger);
const ranBefore = prepareStateDirectories(libc, stateDir);
const host = linuxHost({ stateDir, ranBefore, childCommand, system, libc });
const { podVolumes } = await startAgent({
  system,
  transport: tellsAll ? telling(api) : api,
  host,
  drivers: noDrivers,
  nodeName: "node",
  version: "test",
  settings: {
    ...{ allowedPrefixes: prefixes, stateDir, hostRoot: "/", csiDir: `${stateDir}/csi`, kubeletDir },
    flexVolumeDir: `${stateDir}/vendors`,
  },
  registry,
  deadlineMs,
});
tell({ started: true });

/** As the driver for pods does it, within the milliseconds that kubelet gives it. */
function callOfPod({ call, ms, ...order }: PodOrder): void {
  const signal = AbortSignal.timeout(ms);
  const done =
    "publish" in order ? podVolumes.publish(order.publish, signal) : podVolumes.unpublish(order.unpublish, signal);
  done.then(
    () => tell({ call }),
    ({ kind, reason, message }: PodVolumeError) => tell({ call, failed: { kind, reason, message } }),
  );
}

/** Says what is written before it is. */
function telling(transport: Transport): Transport {
  return {
    stream: (request, handlers) => transport.stream(request, handlers),
    request(request) {
      const { method, path, body } = request;
      if (method !== "GET") tell({ output: "API", text: `${method} ${path} ${JSON.stringify(body)}` });
      return transport.request(request);
    },
  };
}

function tell(word: Word): void {
  if (process.connected) process.send?.(word);
}

function print(message: string, meta?: object): void {
  process.stderr.write(`${message} ${JSON.stringify(meta ?? {})}\n`);
}
