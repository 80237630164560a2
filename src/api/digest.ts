import { hash } from "node:crypto";

/** The first 10 hexadecimal digits of the SHA-256 of a text. */
export function shortDigest(text: string): string {
  return digest(text).slice(0, 10);
}

/** The SHA-256 of a text, in hexadecimal digits. */
export function digest(text: string): string {
  return hash("sha256", text, "hex");
}
