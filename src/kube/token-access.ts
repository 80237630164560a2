import { hash } from "node:crypto";
import type { KubeObject } from "../api/meta.ts";
import { resource } from "../api/names.ts";
import type { Clock } from "../ports.ts";
import type { KubeClient } from "./client.ts";
import { asRecord, recordIn, stringIn } from "./json.ts";

/** What the bearer of a token may: nothing for one that the API server does not know, or that may not read the path. */
export type Access = "allowed" | "unauthenticated" | "forbidden" | "busy";

export interface TokenAccessDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** What is to be read, as a nonResourceURL. */
  readonly path: string;
}

/** As of controller-runtime: who scrapes asks every few seconds, and a right that was taken away ends within a minute. */
const allowedMs = 60_000;
const refusedMs = 10_000;
/** Tokens that are remembered; and reviews at one time: who makes tokens up gives the API server no more than this to do. */
const longest = 256;
const atOnce = 4;

/**
 * Asks the API server who a token is of and whether that may `get` the path (TokenReview, SubjectAccessReview).
 * @returns rejects if the API server cannot be asked
 */
export function createTokenAccess({ client, clock, path }: TokenAccessDeps): (token: string) => Promise<Access> {
  const known = new Map<string, { readonly access: Access; readonly until: number }>();
  const asking = new Map<string, Promise<Access>>();

  async function review(token: string): Promise<Access> {
    const said = await client.create(resource.tokenReviews, asObject({ spec: { token } }));
    const status = recordIn(said, "status");
    const user = recordIn(status, "user");
    if (status?.["authenticated"] !== true || stringIn(user, "username") === undefined) return "unauthenticated";
    const { username, uid, groups, extra } = asRecord(user) ?? {};
    const nonResourceAttributes = { path, verb: "get" };
    const spec = { user: username, ...(uid !== "" && { uid }), groups, extra, nonResourceAttributes };
    const may = await client.create(resource.subjectAccessReviews, asObject({ spec }));
    return recordIn(may, "status")?.["allowed"] === true ? "allowed" : "forbidden";
  }

  return async (token) => {
    // Not the token itself: what is in the memory of a process may come out.
    const key = hash("sha256", token, "hex");
    const before = known.get(key);
    if (before !== undefined && before.until > clock.monotonic()) return before.access;
    const under = asking.get(key);
    if (under !== undefined) return under;
    if (asking.size >= atOnce) return "busy";
    const asked = review(token).finally(() => asking.delete(key));
    asking.set(key, asked);
    const access = await asked;
    known.delete(key);
    const [oldest] = known.keys();
    if (known.size >= longest && oldest !== undefined) known.delete(oldest);
    known.set(key, { access, until: clock.monotonic() + (access === "allowed" ? allowedMs : refusedMs) });
    return access;
  };
}

/** A review has no name: it is answered, and not kept. */
function asObject(review: object): KubeObject {
  return { metadata: {}, ...review } as KubeObject;
}
