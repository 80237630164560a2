import { VolumeError } from "../../errors.ts";
import { cephErrno, nothingOfNode } from "../../host/ports/ceph.ts";
import type { ObjectContent } from "../api/content.ts";

/** What a volume of a Ceph cluster says of it: how it is reached, and as whom. */
export interface CephPlace {
  readonly monitors: readonly string[];
  readonly user?: string;
  readonly secretRef: { readonly namespace: string; readonly name: string };
}

/** As core/v1 has it. */
export const defaultUser = "admin";

/** Bytes before those of a key of cephx: its type (2), its time (8) and its length (2), least byte first. */
const headBytes = 12;
/** AES, with as many bytes: the one type that Ceph has before version 20. */
const keyType = { number: 1, bytes: 16 } as const;

/** PURE. The user's key. @throws VolumeError KeyNotFound, which never says what is in the Secret */
export function cephKey(content: ObjectContent | undefined, { secretRef }: CephPlace): string {
  if (content === undefined) throw new Error("a volume with credentials is not staged before they are known");
  const secret = `${secretRef.namespace}/${secretRef.name}`;
  const value = content.data.get("key");
  if (value === undefined) {
    const message = `Secret ${secret} has no key "key": add it, with the output of ceph auth print-key for the user`;
    throw new VolumeError("KeyNotFound", "final", message);
  }
  const text = Buffer.from(value).toString("latin1").trim(); // of a file that an editor has ended
  if (isKey(text)) return text;
  const message = `"key" of Secret ${secret} is no key of cephx (of its type AES): it must be the output of ceph auth print-key for the user`;
  throw new VolumeError("KeyNotFound", "final", message);
}

/**
 * PURE. Whether clients can decode it: what they cannot they repeat in their logs, as it is. (Ceph: src/auth/Crypto.cc,
 * CryptoKey::decode)
 */
function isKey(text: string): boolean {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text || bytes.length !== headBytes + keyType.bytes) return false;
  return bytes.readUInt16LE(0) === keyType.number && bytes.readUInt16LE(headBytes - 2) === keyType.bytes;
}

/** PURE. What programs of Ceph are told in any case. */
export function cephArgs({ monitors, user = defaultUser }: CephPlace, keyFile: string): string[] {
  return [...nothingOfNode, `--mon-host=${monitors.join(",")}`, `--id=${user}`, `--keyfile=${keyFile}`];
}

/** PURE. @returns why nobody is let in; undefined if it is something else */
export function refusedUser(words: string, source: string, { user = defaultUser, secretRef }: CephPlace) {
  const errno = cephErrno(words);
  if (errno !== 1 && errno !== 13) return undefined;
  const message = `${source}: the cluster refuses client.${user} with the key of Secret ${secretRef.namespace}/${secretRef.name}, or its access to the requested data (${lastLine(words)}): correct key and user, or the user's caps`;
  return new VolumeError("CredentialsRefused", "final", message, { on: { kind: "Server", name: source } });
}

/** PURE. What was said last, without the program's name. */
export function lastLine(words: string): string {
  return (words.trim().split("\n").at(-1) ?? "").replace(/^.*\[\d+\]: /, "");
}
