import type { PassphraseReference } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";
import type { ObjectContent } from "../api/content.ts";

/** Bytes that a passphrase has at most: cryptsetup(8) takes more, a pipe of the child does not. */
const longest = 4096;

/**
 * PURE. What opens the disk: any bytes, without the line feed with which an editor has ended them.
 * @throws VolumeError KeyNotFound, which never says what is in it
 */
export function passphraseOf(content: ObjectContent | undefined, secretRef: PassphraseReference): Uint8Array {
  if (content === undefined) throw new Error("an encrypted volume is not staged before its Secret is known");
  const { namespace, name, key = "passphrase" } = secretRef;
  const value = content.data.get(key);
  const secret = `Secret ${namespace}/${name}`;
  if (value === undefined) throw new VolumeError("KeyNotFound", "final", `${secret} has no key ${key}: add it`);
  const bytes = value.at(-1) === 0x0a ? value.subarray(0, -1) : value;
  if (bytes.length > 0 && bytes.length <= longest) return bytes;
  throw new VolumeError("KeyNotFound", "final", `the key ${key} of ${secret} must have 1 to ${longest} bytes`);
}
