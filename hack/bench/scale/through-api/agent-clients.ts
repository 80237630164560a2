import { type ApiClient, createApiClient } from "../../../lib/api-client.ts";
import { requestToken } from "../../../lib/control-plane/identities.ts";
import type { ControlPlane } from "../../../lib/control-plane/start.ts";

/** A client for each node's agent, as itself: the policies let nobody else speak for it. */
export interface AgentClients {
  of(node: string): Promise<ApiClient>;
  close(): void;
}

export function createAgentClients({ admin, server, ca }: Pick<ControlPlane, "admin" | "server" | "ca">): AgentClients {
  const clients = new Map<string, Promise<ApiClient>>();
  const opened: ApiClient[] = [];

  async function open(name: string): Promise<ApiClient> {
    const node = await admin.call("GET", `/api/v1/nodes/${name}`);
    const { uid } = node.body["metadata"] as { uid: string };
    const token = await requestToken(admin, "nodevolume-agent", { kind: "Node", name, uid });
    const client = createApiClient({ server, ca, token });
    opened.push(client);
    return client;
  }

  return {
    of(node) {
      const client = clients.get(node) ?? open(node);
      clients.set(node, client);
      return client;
    },
    close() {
      for (const client of opened) client.close();
    },
  };
}
