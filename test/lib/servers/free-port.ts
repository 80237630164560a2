import { createServer } from "node:net";

/** A port of 127.0.0.1 that nobody had a moment ago, for programs that cannot choose one. */
export async function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer().once("error", reject);
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { readonly port: number };
    server.close(() => resolve(port));
  });
  return promise;
}
