import { expect } from "chai";
import { certificatesOf } from "../../../../src/agent/content/certificates.ts";

const body = "A".repeat(70);
const canonical = `-----BEGIN CERTIFICATE-----\n${"A".repeat(64)}\nAAAAAA\n-----END CERTIFICATE-----\n`;

describe("certificatesOf", () => {
  it("is the same text for the same certificate, however it is broken into lines and whatever is said beside it", () => {
    const bundle = `# one\n-----BEGIN CERTIFICATE-----\r\n${body}\r\n-----END CERTIFICATE-----\ntwo\n${canonical}`;
    expect(certificatesOf(bundle)).to.deep.equal([canonical, canonical]);
  });

  it("is nothing but certificates", () => {
    expect(certificatesOf(`-----BEGIN PRIVATE KEY-----\nAA\n-----END PRIVATE KEY-----\n`)).to.deep.equal([]);
    expect(certificatesOf("")).to.deep.equal([]);
  });
});
