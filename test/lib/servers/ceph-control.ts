import { connect, createServer } from "node:net";
import { createInterface } from "node:readline";
import type { CephCluster, Daemon } from "./ceph.ts";
import { cephAddress } from "./ceph.ts";

/** What tests in the VM have done to the cluster beside it. */
export type CephCommand =
  | { readonly signal: "SIGSTOP" | "SIGCONT"; readonly daemons: readonly Daemon[] }
  | { readonly kill: true }
  | { readonly begin: true }
  /** Arguments of ceph(8). */
  | { readonly ceph: readonly string[] };

const port = 3299;

/** Does what comes over the network, a line of JSON a connection; each answer is one, too. */
export async function serveControl(cluster: CephCluster): Promise<AsyncDisposable> {
  const server = createServer((socket) => {
    socket.on("error", () => {}); // the VM is gone
    createInterface({ input: socket }).once("line", (line) => {
      const done = carryOut(cluster, JSON.parse(line) as CephCommand);
      const answer = done.then((said) => ({ said })).catch((error: unknown) => ({ failed: String(error) }));
      void answer.then((text) => socket.end(`${JSON.stringify(text)}\n`));
    });
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(port, cephAddress, resolve);
  await promise;
  return { [Symbol.asyncDispose]: async () => void server.close() };
}

async function carryOut(cluster: CephCluster, command: CephCommand): Promise<string> {
  if ("signal" in command) cluster.signal(command.signal, ...command.daemons);
  else if ("kill" in command) await cluster.kill();
  else if ("begin" in command) await cluster.begin();
  else return cluster.run("ceph", ...command.ceph);
  return "";
}

/** In the VM. @returns what ceph(8) has said. @throws Error if it was not done */
export async function tellCluster(command: CephCommand): Promise<string> {
  const socket = connect({ port, host: process.env["NODEVOLUME_CEPH_ADDRESS"] ?? "" });
  socket.write(`${JSON.stringify(command)}\n`);
  for await (const line of createInterface({ input: socket })) {
    const { said, failed } = JSON.parse(line) as { said?: string; failed?: string };
    if (said === undefined) throw new Error(`the cluster: ${failed}`);
    return said;
  }
  throw new Error("the cluster did not answer");
}
