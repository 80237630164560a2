import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createKubeClient, type KubeClient } from "../../../src/kube/client/client.ts";
import { createRealTransport } from "../../../src/kube/client/real-transport.ts";
import { createLogger } from "../../../src/log.ts";
import { realSystem } from "../../../src/system.ts";
import type { TestCluster } from "./cluster.ts";

/** Lets `use` have the product's own client of a cluster, as whoever has the token. */
export async function withKubeClient<T>(
  cluster: TestCluster,
  token: string,
  use: (client: KubeClient) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(cluster.directory, "client-"));
  const tokenFile = join(directory, "token");
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const access = { server: cluster.controlPlane.server, caFile: join(cluster.directory, "ca.crt"), tokenFile };
  const system = realSystem(createLogger("error", {}));
  const transport = await createRealTransport({ system, access, userAgent: "nodevolume-test" });
  try {
    return await use(createKubeClient({ transport, fieldManager: "nodevolume-test" }));
  } finally {
    transport.close();
    rmSync(directory, { recursive: true });
  }
}
