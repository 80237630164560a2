// The page as the controller serves it, of a cluster that is made up.
import { createPage, type Page } from "../../../src/controller/page/page.ts";
import { loadPageFiles } from "../../../src/page-files.ts";
import { startPageServer } from "../../../src/page-server.ts";
import { version } from "../../../src/version.ts";
import type { Cluster } from "./cluster.ts";

export interface Served {
  readonly url: string;
  readonly port: number;
  readonly page: Page;
  stop(): Promise<void>;
}

export async function servePage({ view, system }: Cluster): Promise<Served> {
  const files = loadPageFiles();
  const page = createPage({ system, view, version });
  const { timers, log } = system;
  const server = await startPageServer({ address: { host: "127.0.0.1", port: 0 }, page, files, timers, log });
  return {
    url: `http://127.0.0.1:${server.port}/`,
    port: server.port,
    page,
    async stop() {
      page.stop();
      view.gatherer.stop();
      view.leases.stop();
      await server.stop();
    },
  };
}
