import { lookup } from "node:dns";
import { get as getByHTTP, type IncomingMessage } from "node:http";
import { get as getByHTTPS } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { printable } from "../../../api/values/printable.ts";
import { messageOf, VolumeError } from "../../../errors.ts";

/** A connection on which nothing comes for so long is given up, and what is missing is asked for on another. */
const silenceMs = 60_000;

/** A connection that could not be made, or ended before the answer did: it may come on another one. */
export class BrokenConnection extends Error {
  override readonly name = "BrokenConnection";
  readonly host: string;

  constructor(host: string, cause: unknown) {
    super(messageOf(cause), { cause });
    this.host = host;
  }
}

/** An answer whose body is still to come, as the server sends it: nobody decodes it, as digests are of what is sent. */
export interface Answer {
  readonly status: number;
  readonly url: URL;
  header(name: "location" | "www-authenticate" | "content-range"): string | undefined;
  /** Whether the end of the body can be told from a broken connection. */
  readonly hasEnd: boolean;
  /** @throws BrokenConnection */
  body(): AsyncGenerator<Buffer>;
  /** Does without the body. */
  leave(): void;
}

/** Why nothing is asked at an address; undefined if there is no reason. */
export type RefusalOf = (address: string) => VolumeError | undefined;

/**
 * GET on a connection of its own, so that none is begun on one that the server is closing.
 * @throws BrokenConnection, and what `refusalOf` says of an address that the host has
 */
export async function ask(
  url: URL,
  headers: { readonly [name: string]: string },
  refusalOf: RefusalOf = () => undefined,
): Promise<Answer> {
  const address = url.hostname.replace(/^\[|\]$/g, "");
  const refusal = isIP(address) === 0 ? undefined : refusalOf(address);
  if (refusal !== undefined) throw refusal;
  const answer = await answerTo(url, headers, refusalOf).catch((error) => {
    throw error instanceof VolumeError ? error : new BrokenConnection(url.host, error);
  });
  return {
    url,
    status: answer.statusCode ?? 0,
    hasEnd: answer.headers["content-length"] !== undefined || answer.headers["transfer-encoding"] !== undefined,
    header: (name) => answer.headers[name],
    leave: () => void answer.destroy(),
    async *body() {
      try {
        for await (const chunk of answer) yield chunk;
      } catch (error) {
        throw new BrokenConnection(url.host, error);
      }
    },
  };
}

function answerTo(
  url: URL,
  headers: { readonly [name: string]: string },
  refusalOf: RefusalOf,
): Promise<IncomingMessage> {
  return new Promise((answered, failed) => {
    const get = url.protocol === "https:" ? getByHTTPS : getByHTTP;
    const request = get(url, { headers, agent: false, lookup: lookupUnless(refusalOf) }, (answer) => {
      answer.on("error", () => {}); // whoever reads the body is told
      answered(answer);
    });
    request.setTimeout(silenceMs, () => request.destroy(new Error(`nothing came for ${silenceMs / 1000} s`)));
    request.on("error", failed);
  });
}

/** Any name may be given the address of anything: what it has when a connection is made counts. */
function lookupUnless(refusalOf: RefusalOf): LookupFunction {
  return (hostname, options, found) => {
    lookup(hostname, { ...options, all: true }, (error, addresses = []) => {
      const refusal = addresses.map(({ address }) => refusalOf(address)).find((one) => one !== undefined);
      const [first] = addresses;
      if (error !== null || refusal !== undefined || first === undefined) found(error ?? refusal ?? null, "");
      else if (options.all === true) found(null, addresses);
      else found(null, first.address, first.family);
    });
  };
}

/** As git's: a server that sends less than 1,000 bytes a second for a minute would hold up other fetches for days. */
export function tooSlow(host: string): (bytes: number) => void {
  let since = performance.now();
  let bytes = 0;
  return (more) => {
    bytes += more;
    const ms = performance.now() - since;
    if (ms < 60_000) return;
    if (bytes < ms) throw new VolumeError("ServerUnreachable", "transient", `${host} sends ${bytes} bytes in a minute`);
    since = performance.now();
    bytes = 0;
  };
}

/** The error about a registry that does not answer. */
export function unreachable({ host, cause }: BrokenConnection): VolumeError {
  const message = printable(`${host} does not answer: ${messageOf(cause)}`).slice(0, 512);
  return new VolumeError("ServerUnreachable", "transient", message);
}
