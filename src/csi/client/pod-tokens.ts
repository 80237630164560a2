/** As the API server hands out a token (authentication.k8s.io/v1, TokenRequestStatus). */
interface Token {
  readonly token: string;
  readonly expirationTimestamp: string;
}

/** What kubelet says of a pod that a driver is to act as. */
export interface PodIdentity {
  /** Name of its service account. */
  readonly serviceAccount: string;
  readonly tokens: PodTokens;
}

/**
 * The tokens of one pod, by audience, as kubelet hands them over (behaviour 109). They are in a private field: what is
 * logged, inspected or written down of an object that has them shows none.
 */
export class PodTokens {
  readonly #byAudience: ReadonlyMap<string, Token>;

  private constructor(byAudience: ReadonlyMap<string, Token>) {
    this.#byAudience = byAudience;
  }

  /**
   * @param json kubelet's: {audience: {token, expirationTimestamp}}
   * @param podUID whose they must be, by their own claims: who has verified them is the driver
   * @throws Error in fixed words, as what cannot be read may be a secret
   */
  static read(json: string, podUID: string): PodTokens {
    const byAudience = new Map<string, Token>();
    for (const [audience, given] of Object.entries(objectIn(json))) {
      const { token, expirationTimestamp } = (given ?? {}) as { [key: string]: unknown };
      if (typeof token !== "string" || typeof expirationTimestamp !== "string") throw new Error(unreadable);
      if (Number.isNaN(Date.parse(expirationTimestamp))) throw new Error(unreadable);
      if (podOf(token) !== podUID) throw new Error("a token is not one of the pod that the target path is of");
      byAudience.set(audience, { token, expirationTimestamp });
    }
    return new PodTokens(byAudience);
  }

  /** Those for these audiences; the others are forgotten with this object. */
  only(audiences: readonly string[]): PodTokens {
    return new PodTokens(new Map([...this.#byAudience].filter(([audience]) => audiences.includes(audience))));
  }

  /** The audiences for which there is none. */
  lacking(audiences: readonly string[]): string[] {
    return audiences.filter((audience) => !this.#byAudience.has(audience));
  }

  isSame(other: PodTokens): boolean {
    const [mine, others] = [this.#byAudience, other.#byAudience];
    return mine.size === others.size && [...mine].every(([key, { token }]) => others.get(key)?.token === token);
  }

  /** Wall time in milliseconds since the epoch at which the first of them runs out; Infinity without any. */
  get expiresAt(): number {
    return Math.min(
      ...[...this.#byAudience.values()].map(({ expirationTimestamp }) => Date.parse(expirationTimestamp)),
    );
  }

  /** As kubelet gives them to a driver. The caller keeps it nowhere. */
  reveal(): string {
    return JSON.stringify(Object.fromEntries(this.#byAudience));
  }
}

const unreadable = "the tokens of the pod cannot be read";

/** What the JSON is of. @throws Error without a piece of it, unlike JSON.parse */
function objectIn(json: string): { [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as { [key: string]: unknown };
  } catch {
    // said below, in words of ours
  }
  throw new Error(unreadable);
}

/** The UID of the pod that a token is bound to, by its own claim (a JWT, kubernetes.io); undefined without one. */
function podOf(token: string): unknown {
  const payload = token.split(".")[1] ?? "";
  try {
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Claims;
    return claims["kubernetes.io"]?.pod?.uid;
  } catch {
    return undefined;
  }
}

interface Claims {
  readonly "kubernetes.io"?: { readonly pod?: { readonly uid?: unknown } };
}
