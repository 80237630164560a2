// The page as the controller serves it, of a cluster that is made up.
import { agentState } from "../../../src/controller/agents/agent-leases.ts";
import { createPage, type Page } from "../../../src/controller/page/page.ts";
import { startPageServer } from "../../../src/http/page-server.ts";
import { loadPageFiles } from "../../../src/page-files.ts";
import type { Cancel } from "../../../src/ports.ts";
import { version } from "../../../src/version.ts";
import type { Cluster } from "./cluster.ts";
import { rawLease } from "./objects.ts";

export interface Served {
  readonly url: string;
  readonly port: number;
  readonly page: Page;
  stop(): Promise<void>;
}

export async function servePage(cluster: Cluster): Promise<Served> {
  const { view, system } = cluster;
  const files = loadPageFiles();
  const page = createPage({ system, view, version });
  const { timers, log } = system;
  const server = await startPageServer({ address: { host: "127.0.0.1", port: 0 }, page, files, timers, log });
  const endRenewals = renewals(cluster);
  return {
    url: `http://127.0.0.1:${server.port}/`,
    port: server.port,
    page,
    async stop() {
      endRenewals();
      page.stop();
      view.gatherer.stop();
      view.leases.stop();
      await server.stop();
    },
  };
}

/** Agents that live renew their Leases, however long somebody looks at the page. */
function renewals({ view, system, nodes }: Cluster): Cancel {
  let cancel: Cancel = () => undefined;
  const renew = () => {
    for (const node of nodes)
      if (["live", "unknown"].includes(agentState(view.leases, node)))
        view.put("leases", rawLease(node, system.clock.now()));
    cancel = system.timers.after(20_000, renew);
  };
  cancel = system.timers.after(20_000, renew);
  return () => cancel();
}
