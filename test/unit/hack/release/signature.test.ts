import { generateKeyPairSync, verify } from "node:crypto";
import { expect } from "chai";
import { signatureOf } from "../../../../hack/release/signature.ts";

const pem = { type: "pkcs8", format: "pem" } as const;

describe("signatureOf", () => {
  it("is one that the public key verifies, of that text alone", () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const content = Buffer.from("sums");
    const signature = signatureOf(content, privateKey.export(pem).toString());
    expect(verify(null, content, publicKey, signature)).to.equal(true);
    expect(verify(null, Buffer.from("other"), publicKey, signature)).to.equal(false);
  });

  it("is refused of another kind of key", () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    expect(() => signatureOf(Buffer.from("sums"), privateKey.export(pem).toString())).to.throw("ec is not ed25519");
  });
});
