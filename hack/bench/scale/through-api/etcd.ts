// etcd's own API, for objects that are to be there as if they always had been.
import { Agent, request } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { atMost } from "./at-most.ts";

export interface Stored {
  /** Where kube-apiserver looks for it. */
  readonly key: string;
  /** JSON, which it reads as well as what it writes itself. */
  readonly text: string;
}

/** What etcd takes in one transaction, if it is not told otherwise (--max-txn-ops). */
const perTransaction = 128;
/** Transactions at a time. */
const atOnce = 4;

/**
 * Puts objects by etcd's JSON gateway.
 * @param socketPath etcd's, as this process names it
 * @throws Error with etcd's answer
 */
export async function putAll(socketPath: string, objects: Iterable<Stored>): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  try {
    await atMost(atOnce, inTransactions(objects), (puts) => transact({ socketPath, agent }, puts));
  } finally {
    agent.destroy();
  }
}

function* inTransactions(objects: Iterable<Stored>): Generator<Stored[]> {
  let next: Stored[] = [];
  for (const object of objects) {
    next.push(object);
    if (next.length < perTransaction) continue;
    yield next;
    next = [];
  }
  if (next.length > 0) yield next;
}

async function transact(server: { socketPath: string; agent: Agent }, puts: readonly Stored[]): Promise<void> {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const success = puts.map(({ key, text }) => ({ requestPut: { key: base64(key), value: base64(text) } }));
  const headers = { "content-type": "application/json" };
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const asked = request({ ...server, method: "POST", path: "/v3/kv/txn", headers }, (response) => {
    textOf(response).then((said) => {
      if (response.statusCode === 200) resolve();
      else reject(new Error(`etcd: ${response.statusCode} ${said.slice(0, 300)}`));
    }, reject);
  });
  asked.on("error", reject).end(JSON.stringify({ success }));
  return promise;
}
