// A node with a network of its own reaches the API server, which serves on the loopback interface of everybody else's:
// its connections go through a socket file, which belongs to no network.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream";
import type { PretendHost } from "../pretend-node/node.ts";
import { StepError } from "../process.ts";
import { root } from "../root.ts";
import { until } from "../until.ts";

export interface RelayOptions {
  readonly host: PretendHost;
  /** URL of the API server: the node finds it at the same address. */
  readonly server: string;
  readonly directory: string;
  readonly logs: string;
}

/** Milliseconds until it listens; half a second is usual. */
const patience = 20_000;

/** Turns on the node's loopback interface and listens there, at the API server's address. */
export async function startRelay({ host, server, directory, logs }: RelayOptions): Promise<{ stop(): Promise<void> }> {
  const { hostname, port } = new URL(server);
  const file = join(directory, "api-server.sock");
  const open = new Set<Socket>();
  const listener = createServer((from) => {
    open.add(from);
    from.on("close", () => open.delete(from));
    // Either end may go at any time: the other one goes with it.
    pipeline(from, connect(Number(port), hostname), from, () => undefined);
  });
  listener.listen(file);
  await once(listener, "listening");
  const main = join(root, "hack/lib/kubelet-node/relay-main.ts");
  const logFile = join(logs, `relay-${host.name}.log`);
  const relay = host.startOn("relay", [process.execPath, main, hostname, port, file], logFile, process.env);
  await until(`the relay of ${host.name} to listen`, patience, async () => {
    const ending = relay.ending();
    if (ending !== undefined) throw new StepError(`the relay ${ending}`, { logFile, remedy: "its log says why" });
    return (await host.run("cat", "/proc/net/tcp")).includes(`:${Number(port).toString(16).toUpperCase()} 00000000:`);
  });
  return {
    async stop() {
      await relay.stop();
      for (const socket of open) socket.destroy();
      listener.close();
    },
  };
}
