import { Agent, request } from "node:https";

/** Who asks: a token, and whom it wants to be taken for. */
export interface Asker {
  readonly token?: string;
  readonly asUser?: string;
}

export interface Question {
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  /** What the server says of a refusal; empty where it refuses nothing. */
  readonly message: string;
}

/** Sends real requests to one API server, a few at a time. A watch is answered when it begins, and ended. */
export class Questions {
  readonly #server: string;
  readonly #agent: Agent;

  constructor({ server, ca }: { readonly server: string; readonly ca: string }) {
    this.#server = server;
    this.#agent = new Agent({ keepAlive: true, ca, maxSockets: 12 });
  }

  ask(asker: Asker, { method, path, contentType = "application/json", body }: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const payload = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        accept: "application/json",
        ...(asker.token === undefined ? {} : { authorization: `Bearer ${asker.token}` }),
        ...(asker.asUser === undefined ? {} : { "impersonate-user": asker.asUser }),
        ...(payload === undefined ? {} : { "content-type": contentType }),
      };
      const outgoing = request(new URL(path, this.#server), { method, agent: this.#agent, headers }, (incoming) => {
        const status = incoming.statusCode ?? 0;
        if (status === 200 && path.includes("watch=true")) {
          incoming.on("error", () => {}); // ended by ourselves
          outgoing.destroy();
          return resolve({ status, message: "" });
        }
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
        incoming.on("end", () => resolve({ status, message: status < 300 ? "" : messageIn(Buffer.concat(chunks)) }));
      });
      outgoing.setTimeout(30_000, () => outgoing.destroy(new Error(`${method} ${path}: no answer in 30 s`)));
      outgoing.on("error", reject).end(payload);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function messageIn(body: Buffer): string {
  const text = body.toString();
  try {
    return String((JSON.parse(text) as { message?: string }).message ?? text);
  } catch {
    return text;
  }
}
