/**
 * Recognizes an unchanged Secret without storing it. A weak password can be guessed from the digest: it is only in the
 * journal, which only root may read (0600), and in no status, log or metric.
 */
export interface SaltedDigest {
  /** Random, hexadecimal: equal secrets of two volumes have different digests. */
  readonly salt: string;
  readonly digest: string;
}
