import { hash } from "node:crypto";
import type { KubeObject } from "../../api/meta.ts";
import { resource } from "../../api/names.ts";
import type { Clock } from "../../ports.ts";
import type { KubeClient } from "../client/client.ts";
import { arrayIn, asRecord, recordIn, stringIn } from "../json.ts";
import { createReviewBudget } from "./review-budget.ts";

/**
 * What the bearer of a token may: nothing for one that the API server does not know, or that may not read the path.
 * `limited`: too many tokens that nobody knows were shown. `unknown`: the API server could not be asked.
 */
export type Access = "allowed" | "unauthenticated" | "forbidden" | "limited" | "unknown";

/** @param from the address that shows the token */
export type TokenAccess = (token: string, from: string) => Promise<Access>;

/** Dependencies of checking the token of a request (TokenReview, SubjectAccessReview). */
export interface TokenAccessDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** What is to be read, as a nonResourceURL. */
  readonly path: string;
  /**
   * That a token must be of. Without it a token must be good for the API server itself: whoever it is shown to could
   * ask that in its bearer's name.
   */
  readonly audience?: string | undefined;
}

/**
 * As of controller-runtime: who scrapes asks every few seconds, and a right that was taken away ends within a minute.
 */
const allowedMs = 60_000;
const refusedMs = 10_000;
/** Tokens of each kind that are remembered; and reviews of strangers at one time. */
const longest = 256;
const atOnce = 4;

/**
 * Asks the API server whose a token is, and whether that user may `get` the path (TokenReview, SubjectAccessReview). An
 * allowed user is reviewed every minute, whatever other users send: neither their number nor their rate can lock that
 * user out.
 * @returns rejects if the API server is unreachable
 */
export function createTokenAccess({ client, clock, path, audience }: TokenAccessDeps): TokenAccess {
  /**
   * Apart from each other: refusals are had for nothing, and push nobody out. Those who were allowed stay beyond their
   * time.
   */
  const allowed = createMemory(allowedMs, clock);
  const refused = createMemory(refusedMs, clock);
  const budget = createReviewBudget(clock);
  const asking = new Map<string, Promise<Access>>();
  let strangers = 0;

  async function review(token: string): Promise<Access> {
    const audiences = audience === undefined ? {} : { audiences: [audience] };
    const said = await client.create(resource.tokenReviews, asObject({ spec: { token, ...audiences } }));
    const status = recordIn(said, "status");
    const user = recordIn(status, "user");
    if (status?.["authenticated"] !== true || stringIn(user, "username") === undefined) return "unauthenticated";
    // One that does not name it knows nothing of audiences: the token is good for itself.
    if (audience !== undefined && !arrayIn(status, "audiences").includes(audience)) return "unauthenticated";
    const { username, uid, groups, extra } = asRecord(user) ?? {};
    const nonResourceAttributes = { path, verb: "get" };
    const spec = { user: username, ...(uid !== "" && { uid }), groups, extra, nonResourceAttributes };
    const may = await client.create(resource.subjectAccessReviews, asObject({ spec }));
    return recordIn(may, "status")?.["allowed"] === true ? "allowed" : "forbidden";
  }

  async function remembered(key: string, token: string): Promise<Access> {
    const access = await review(token);
    const [of, other] = access === "allowed" ? [allowed, refused] : [refused, allowed];
    of.set(key, access);
    other.delete(key);
    return access;
  }

  async function ofStranger(key: string, token: string): Promise<Access> {
    strangers += 1;
    try {
      return await remembered(key, token);
    } finally {
      strangers -= 1;
    }
  }

  return async (token, from) => {
    // Not the token itself: what is in the memory of a process may come out.
    const key = hash("sha256", token, "hex");
    const before = allowed.get(key) ?? refused.get(key);
    if (before !== undefined) return before;
    const under = asking.get(key);
    if (under !== undefined) return under;
    const isStranger = !allowed.has(key);
    if (isStranger && (strangers >= atOnce || !budget.take(from))) return "limited";
    const asked = (isStranger ? ofStranger : remembered)(key, token).finally(() => asking.delete(key));
    asking.set(key, asked);
    return asked;
  };
}

/** Of the last tokens that were reviewed, by their hash. */
function createMemory(ms: number, clock: Clock) {
  const known = new Map<string, { readonly access: Access; readonly until: number }>();
  return {
    /** undefined once it is out of date. */
    get(key: string): Access | undefined {
      const found = known.get(key);
      return found !== undefined && found.until > clock.monotonic() ? found.access : undefined;
    },
    /** Also of what is out of date. */
    has: (key: string) => known.has(key),
    set(key: string, access: Access): void {
      known.delete(key);
      const [oldest] = known.keys();
      if (known.size >= longest && oldest !== undefined) known.delete(oldest);
      known.set(key, { access, until: clock.monotonic() + ms });
    },
    delete: (key: string) => void known.delete(key),
  };
}

/** A review has no name: it is answered, and not kept. */
function asObject(review: object): KubeObject {
  return { metadata: {}, ...review } as KubeObject;
}
