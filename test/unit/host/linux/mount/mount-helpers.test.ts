import { expect } from "chai";
import { mountHelpers } from "../../../../../src/host/linux/mount/mount-helpers.ts";
import type { FilesystemMount } from "../../../../../src/host/ports/host-ports.ts";

describe("what mount.cifs says of a failure", () => {
  const failure = (password: string, output: string) => {
    const credentials = { username: "ann", password };
    const request = { source: "//files/x", credentials } as unknown as FilesystemMount;
    return mountHelpers["cifs"]?.failure(request, output);
  };

  it("is told without the password, in whatever writing it stands there", () => {
    const said = failure("p%s3cret", "mount error(13): Permission denied for ann p%25s3cret cCVzM2NyZXQ");
    expect(said?.reason).to.equal("CredentialsRefused");
    expect(said?.message)
      .to.include("Permission denied")
      .and.not.to.match(/s3cret|cCVzM2NyZXQ/);
  });

  it("is told by its number alone where the password is so short that any text has it", () => {
    const said = failure("m", "mount error(13): Permission denied");
    expect(said?.reason).to.equal("CredentialsRefused");
    expect(said?.message).to.include("[redacted]").and.not.to.include("Permission");
  });
});
