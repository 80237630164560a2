import { Registry } from "prom-client";
import type { ControllerConfig } from "../config.ts";
import { collectProcessMetrics, startHealthServer } from "../health-server.ts";
import { createRealTransport } from "../kube/real-transport.ts";
import type { Logger } from "../ports.ts";
import { aborted, realSystem } from "../system.ts";
import { version } from "../version.ts";
import { createOperatorShell } from "./operator.ts";
import { startController } from "./start.ts";

/** The role `controller` in a real process: starts it with real ports, and ends it when `signal` says so. */
export async function runController(config: ControllerConfig, log: Logger, signal: AbortSignal): Promise<void> {
  const system = realSystem(log);
  const registry = new Registry();
  collectProcessMetrics(registry);
  const transport = await createRealTransport({
    system,
    access: config.api,
    userAgent: `nodevolume-controller/${version}`,
  });
  let notReady: () => string | undefined = () => "it has just started";
  const address = config.metricsAddress;
  const health = await startHealthServer({ address, registry, notReady: () => notReady(), log });
  const createShell = createOperatorShell(log);
  const controller = startController({ system, transport, config, registry, createShell });
  notReady = controller.notReady;
  await aborted(signal);
  await controller.stop();
  await health.stop();
  transport.close();
}
