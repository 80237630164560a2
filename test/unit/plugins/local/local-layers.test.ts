import { expect } from "chai";
import { VolumeError } from "../../../../src/errors.ts";
import { madeOf, tearDownDataOf, uuidOf } from "../../../../src/plugins/local/local-teardown.ts";
import { passphraseOf } from "../../../../src/plugins/local/passphrase.ts";

const secretRef = { namespace: "platform", name: "disk" };

describe("the passphrase of a disk", () => {
  const of = (data: { readonly [key: string]: Uint8Array }, key?: string) =>
    passphraseOf({ version: "u/1", data: new Map(Object.entries(data)) }, { ...secretRef, ...(key && { key }) });
  const refusal = (call: () => unknown): string => {
    try {
      call();
    } catch (error) {
      if (error instanceof VolumeError) return `${error.reason}: ${error.message}`;
      throw error;
    }
    throw new Error("not refused");
  };

  it("is any bytes, but for one line feed at the end", () => {
    expect([...of({ passphrase: Buffer.from("a b\n") })]).to.deep.equal([...Buffer.from("a b")]);
    expect([...of({ passphrase: Uint8Array.of(0xff, 0, 0x0a, 0x0a) })]).to.deep.equal([0xff, 0, 0x0a]);
    expect([...of({ passphrase: Uint8Array.of(1), other: Uint8Array.of(2) }, "other")]).to.deep.equal([2]);
  });

  it("is missed, empty or too long by the name of its key, and never shown", () => {
    expect(refusal(() => of({ password: Buffer.from("hush") }))).to.match(
      /^KeyNotFound: .*platform\/disk has no key passphrase/,
    );
    expect(refusal(() => of({ passphrase: Buffer.from("\n") }))).to.match(/^KeyNotFound: .*1 to 4096 bytes/);
    const long = refusal(() => of({ passphrase: Buffer.from("hush".repeat(2000)) }));
    expect(long)
      .to.match(/^KeyNotFound/)
      .and.not.to.include("hush");
  });
});

describe("what was made beneath a disk", () => {
  it("is read from the journal as it was written", () => {
    const volume = { volumeGroup: "vg", logicalVolume: "lv" };
    for (const made of [
      {},
      { mapping: "nodevolume-1" },
      { volume, activated: true, fresh: "volume" as const },
      { volume, volumeIdentity: "Ab1-c De2-f" },
      { mapping: "nodevolume-1", volume, fresh: "header" as const },
    ]) {
      expect(madeOf(tearDownDataOf(made))).to.deep.equal(made);
    }
  });

  it("has a UUID that is the volume's key", () => {
    expect(uuidOf({ key: "0123456789abcdef0123456789abcdef" })).to.equal("01234567-89ab-cdef-0123-456789abcdef");
  });
});
