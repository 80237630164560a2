import { Registry } from "prom-client";
import { fieldManager } from "../api/names.ts";
import type { ControllerConfig } from "../config.ts";
import { messageOf } from "../errors.ts";
import { secureMetrics, startHealthServer } from "../http/health-server.ts";
import { startPageServer } from "../http/page-server.ts";
import { registerRoleMetrics } from "../http/role-metrics.ts";
import { createKubeClient } from "../kube/client/client.ts";
import { createRealTransport } from "../kube/client/real-transport.ts";
import { loadPageFiles } from "../page-files.ts";
import type { Logger, System } from "../ports.ts";
import { aborted, realSystem } from "../system.ts";
import { version } from "../version.ts";
import { createPage } from "./page/page.ts";
import { createOperatorFinalizerController } from "./sets/operator.ts";
import { type Controller, startController } from "./start.ts";

/** The role `controller` in a real process: starts it with real ports, and ends it when `signal` says so. */
export async function runController(config: ControllerConfig, log: Logger, signal: AbortSignal): Promise<void> {
  const system = realSystem(log);
  const registry = new Registry();
  registerRoleMetrics(registry, "controller", config);
  const transport = await createRealTransport({
    system,
    access: config.api,
    userAgent: `nodevolume-controller/${version}`,
  });
  let notReady: () => string | undefined = () => "it has just started";
  const address = config.metricsAddress;
  let remark: () => string | undefined = () => undefined;
  const health = await startHealthServer({
    address,
    registry,
    notReady: () => notReady(),
    remark: () => remark(),
    secure: config.secureMetrics
      ? secureMetrics({
          client: createKubeClient({ transport, fieldManager: fieldManager.controller }),
          clock: system.clock,
          audience: config.metricsTokenAudience,
        })
      : undefined,
    log,
  });
  const createFinalizerController = createOperatorFinalizerController(log);
  const controller = startController({
    system,
    transport,
    config,
    registry,
    createFinalizerController,
    watchPolicies: true,
  });
  notReady = controller.notReady;
  remark = controller.remark;
  const stopPage = await startPage(config, system, controller);
  await aborted(signal);
  await stopPage();
  await controller.stop();
  await health.stop();
  transport.close();
}

/** @returns what stops it. A port that is taken keeps nobody from the volumes. */
async function startPage({ pageAddress }: ControllerConfig, system: System, { view }: Controller) {
  if (pageAddress === undefined) return () => Promise.resolve();
  const files = loadPageFiles();
  const page = createPage({ system, view, version });
  const { timers, log } = system;
  const server = await startPageServer({ address: pageAddress, page, files, timers, log }).catch((error: unknown) => {
    log.warn("the page is not served", { error: messageOf(error), remedy: "another --page-address" });
  });
  return async () => {
    page.stop();
    await server?.stop();
  };
}
