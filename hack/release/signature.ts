import { createPrivateKey, sign } from "node:crypto";

/**
 * PURE. The Ed25519 signature of a text: 64 bytes.
 * @param key a private key as PEM
 * @throws Error if it is none, or of another kind
 */
export function signatureOf(content: Buffer, key: string): Buffer {
  const privateKey = createPrivateKey(key);
  if (privateKey.asymmetricKeyType !== "ed25519")
    throw new Error(`--sign-key: ${privateKey.asymmetricKeyType} is not ed25519`);
  return sign(null, content, privateKey);
}
