import * as http from "node:http";
import type { RequestOptions } from "node:https";
import * as https from "node:https";
import { StringDecoder } from "node:string_decoder";
import { messageOf } from "../../errors.ts";
import type { Logger, System } from "../../ports.ts";
import type { TokenSource } from "./token-source.ts";
import {
  AnswerTooLargeError,
  type ApiRequest,
  type ApiResponse,
  type StreamHandlers,
  type Transport,
  TransportError,
} from "./transport.ts";

/** Dependencies of talking HTTP to the API server. */
export interface HttpTransportDeps {
  readonly system: Pick<System, "timers" | "yielder" | "log">;
  /** https://host:port. http:// is for tests: the token would go over the wire in the clear. */
  readonly server: string;
  /** PEM of the certificate authority that the server must be signed by. */
  readonly ca?: string;
  /** Reads the authority again: it is exchanged while the process runs, as the token is. */
  readonly readCA?: () => Promise<string>;
  readonly token: TokenSource;
  /** Instead of token and ca: who one is and how to connect, as node:https takes it. Asked for before each request. */
  readonly credentials?: () => Promise<RequestOptions>;
  readonly userAgent: string;
  /** A watch line longer than this breaks the stream; an object of the API has at most 1.5 MiB. */
  readonly maxLineLength?: number;
}

/** A Transport with sockets; close ends them all. */
export interface HttpTransport extends Transport {
  close(): void;
}

interface Identity {
  readonly token: string;
  readonly options?: RequestOptions;
}

const defaultTimeoutMs = 30_000;
/** Above the bookmark interval of about one minute, so that a quiet watch is not taken for a broken one. */
const defaultIdleMs = 180_000;
const defaultMaxLineLength = 8 * 1024 * 1024;
/** Of an answer in memory. A page may have more: a node can fill the status of each of its intents, to 1 MB. */
const maxBodyBytes = 64 * 1024 * 1024;

/** Requests and watches over HTTP/1.1, with kept connections and a bearer token. */
export function createHttpTransport(deps: HttpTransportDeps): HttpTransport {
  const { timers, yielder, log } = deps.system;
  const base = new URL(deps.server);
  /** A proxy for many clusters has each beneath a path of its own. */
  const prefix = base.pathname.replace(/\/$/, "");
  const connections = createConnections({ base, ca: deps.ca, readCA: deps.readCA, log });

  /** Sends the request with `token` and hands over the answer's head. */
  function send(call: ApiRequest, as: Identity, of: Purpose, onHead: (head: http.IncomingMessage) => void) {
    const url = new URL(prefix + call.path, base);
    for (const [name, value] of Object.entries(call.query ?? {})) url.searchParams.set(name, value);
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
    const { request, agents } = connections.current;
    const sent = request(url, {
      agent: agents[of],
      ...as.options,
      method: call.method,
      headers: {
        accept: "application/json",
        ...(as.options === undefined ? { authorization: `Bearer ${as.token}` } : as.options.headers),
        "user-agent": deps.userAgent,
        ...(call.asUser !== undefined && { "impersonate-user": call.asUser }),
        ...(body && { "content-type": call.contentType ?? "application/json", "content-length": body.length }),
      },
    });
    sent.on("response", onHead);
    sent.on("error", connections.failed);
    sent.end(body);
    return sent;
  }

  function requestOnce(call: ApiRequest, as: Identity): Promise<ApiResponse> {
    const what = `${call.method} ${call.path}`;
    return new Promise((resolve, reject) => {
      const timeoutMs = call.timeoutMs ?? defaultTimeoutMs;
      const sent = send(call, as, "requests", (head) => {
        readBody(head).then(
          (body) => settle(() => resolve(responseOf(head, body))),
          (error: unknown) => fail(error),
        );
      });
      const cancelTimeout = timers.after(timeoutMs, () => {
        fail(new Error(`no answer within ${timeoutMs / 1_000} s`));
        sent.destroy();
      });
      const settle = (outcome: () => void) => {
        cancelTimeout();
        outcome();
      };
      const fail = (error: unknown) =>
        settle(() => reject(new TransportError(`${what}: ${messageOf(error)}`, { cause: error })));
      sent.on("error", fail);
    });
  }

  async function send401Aware(call: ApiRequest): Promise<ApiResponse> {
    const as = await identity();
    const answer = await requestOnce(call, as);
    if (answer.status !== 401) return answer;
    // The server refused before it did anything, so even a write may be sent again.
    deps.token.refused(as.token);
    return requestOnce(call, await identity());
  }

  async function identity(): Promise<Identity> {
    if (deps.credentials !== undefined) return { token: "", options: await deps.credentials() };
    try {
      return { token: await deps.token.current() };
    } catch (error) {
      throw new TransportError(`the token cannot be read: ${messageOf(error)}`, { cause: error });
    }
  }

  function stream(call: ApiRequest, handlers: StreamHandlers) {
    const idleMs = call.idleMs ?? defaultIdleMs;
    let ended = false;
    let sent: http.ClientRequest | undefined;
    let cancelIdle = () => {};

    const end = (how: { response?: ApiResponse; error?: Error }, tell = true) => {
      if (ended) return;
      ended = true;
      cancelIdle();
      sent?.destroy();
      if (tell) guarded(() => handlers.onEnd(how));
    };
    const breakWith = (error: unknown) =>
      end({ error: new TransportError(`WATCH ${call.path}: ${messageOf(error)}`, { cause: error }) });
    const restartIdle = () => {
      cancelIdle();
      cancelIdle = timers.after(idleMs, () => breakWith(new Error(`nothing received for ${idleMs} ms`)));
    };
    // A callback that throws must not reach the socket's event loop, and what it missed must not be lost unseen.
    const guarded = (action: () => void) => {
      try {
        action();
      } catch (error) {
        log.error("a watch handler failed", { path: call.path, error: messageOf(error) });
        breakWith(error);
      }
    };

    const follow = (head: http.IncomingMessage) => {
      const split = createLineSplitter(deps.maxLineLength ?? defaultMaxLineLength, (line) => {
        if (ended) return;
        const object: unknown = JSON.parse(line);
        restartIdle();
        guarded(() => handlers.onObject(object));
      });
      head.on("data", (chunk: Buffer) => {
        if (ended) return;
        try {
          split(chunk);
        } catch (error) {
          breakWith(error);
        }
        if (ended || !yielder.over()) return;
        // A server that has much to say is listened to for a while, and then others are.
        head.pause();
        void yielder.next().then(() => head.resume());
      });
      head.on("end", () => end({}));
      head.on("error", breakWith);
      guarded(() => handlers.onOpen?.());
    };

    const open = async (mayRetry: boolean): Promise<void> => {
      const as = await identity();
      if (ended) return;
      sent = send(call, as, "streams", (head) => {
        if (ended) return;
        if (head.statusCode === 200) return follow(head);
        readBody(head)
          .then((body) => {
            if (head.statusCode !== 401 || !mayRetry) return end({ response: responseOf(head, body) });
            deps.token.refused(as.token);
            return open(false);
          })
          .catch(breakWith);
      });
      sent.on("error", breakWith);
    };

    restartIdle();
    open(true).catch(breakWith);
    return () => end({}, false);
  }

  return { request: send401Aware, stream, close: connections.close };
}

function responseOf({ statusCode = 0, headers }: http.IncomingMessage, body: unknown): ApiResponse {
  const seconds = Number(headers["retry-after"]);
  return { status: statusCode, body, ...(seconds > 0 && { retryAfterSeconds: seconds }) };
}

/** The body as JSON, or as text if it is not JSON (a proxy's error page). */
async function readBody(head: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of head as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new AnswerTooLargeError(`the answer is larger than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The use of a connection. Watches have connections of their own, so that they never hold up a request. */
type Purpose = "requests" | "streams";

/** The errors by which OpenSSL says that nobody whom we trust vouches for a certificate. */
const untrusted: ReadonlySet<unknown> = new Set([
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
]);

/** Whether a request failed because the server's certificate is not signed by the authority. */
function isUntrusted(error: unknown): boolean {
  return error instanceof Error && "code" in error && untrusted.has(error.code);
}

/** Watches have connections of their own: they would otherwise take all that requests may use. */
function connectionsTo(base: URL, ca: string | undefined) {
  const requests = { keepAlive: true, keepAliveMsecs: 30_000, maxSockets: 32, scheduling: "lifo" } as const;
  const streams = { keepAlive: true, keepAliveMsecs: 30_000 } as const;
  if (base.protocol === "http:") {
    return { request: http.request, agents: { requests: new http.Agent(requests), streams: new http.Agent(streams) } };
  }
  const tls = { minVersion: "TLSv1.2", ...(ca !== undefined && { ca }) } as const;
  return {
    request: https.request,
    agents: { requests: new https.Agent({ ...requests, ...tls }), streams: new https.Agent({ ...streams, ...tls }) },
  };
}

/** The connections to one server, made anew when the authority that its certificate is signed by is exchanged. */
interface Connections {
  readonly current: ReturnType<typeof connectionsTo>;
  /**
   * A request has failed: if nobody whom we trust vouches for the server, looks whether the authority is another one by
   * now.
   */
  failed(error: unknown): void;
  /** Ends them all, also those of before: until then what they carry goes on. */
  close(): void;
}

/** HTTP agents for requests and for watches. They are replaced when the certificate authority changes. */
export function createConnections(deps: {
  readonly base: URL;
  /** PEM. */
  readonly ca?: string | undefined;
  readonly readCA?: (() => Promise<string>) | undefined;
  readonly log: Logger;
}): Connections {
  const { base, readCA, log } = deps;
  let { ca } = deps;
  let current = connectionsTo(base, ca);
  const opened = [current];
  let reading = false;

  async function readAgain(): Promise<void> {
    if (reading || readCA === undefined) return;
    reading = true;
    try {
      const read = await readCA();
      if (read === ca) return;
      ca = read;
      current = connectionsTo(base, ca);
      opened.push(current);
      log.info("the certificate authority of the API server was exchanged");
    } catch (failure) {
      log.warn("the certificate authority cannot be read again", { error: messageOf(failure) });
    } finally {
      reading = false;
    }
  }

  return {
    get current() {
      return current;
    },
    failed(error) {
      if (isUntrusted(error)) void readAgain();
    },
    close() {
      for (const { agents } of opened) {
        agents.requests.destroy();
        agents.streams.destroy();
      }
    },
  };
}

/** Cuts a byte stream into lines. Throws if a line is longer than `maxLength` characters. */
export function createLineSplitter(maxLength: number, onLine: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder("utf8");
  const parts: string[] = [];
  let length = 0;

  return (chunk) => {
    let text = decoder.write(chunk);
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      const line = parts.join("") + text.slice(0, end);
      parts.length = 0;
      length = 0;
      text = text.slice(end + 1);
      if (line !== "") onLine(line);
    }
    length += text.length;
    if (length > maxLength) throw new Error(`a line is longer than ${maxLength} characters`);
    if (text !== "") parts.push(text);
  };
}
