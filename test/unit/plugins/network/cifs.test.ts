import { expect } from "chai";
import { VolumeError } from "../../../../src/errors.ts";
import { mountHelpers } from "../../../../src/host/linux/mount/mount-helpers.ts";
import type { FilesystemMount } from "../../../../src/host/ports/host-ports.ts";
import { serverOf } from "../../../../src/host/ports/servers.ts";
import { contentKey } from "../../../../src/plugins/api/content.ts";
import { stagingAttributes, type VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { cifs, credentialsIn } from "../../../../src/plugins/network/cifs.ts";

const content = (values: Record<string, string>) => ({
  version: "u/1",
  data: new Map(Object.entries(values).map(([key, value]) => [key, Buffer.from(value)] as const)),
});
const ofSecret = (values: Record<string, string>) => () => credentialsIn(content(values), "storage/files");
const good = { username: "ann", password: "a,b c%ü", domain: "CORP" };

describe("credentials of a share", () => {
  it("are the keys of the Secret; the line end of a file is none of a password", () => {
    expect(ofSecret(good)()).to.deep.equal(good);
    expect(ofSecret({ username: "ann\n", password: "x\n" })()).to.deep.equal({ username: "ann", password: "x" });
  });

  const refused: [string, Record<string, string>, RegExp][] = [
    ["no user", { password: "s3" }, /^Secret storage\/files has no key username: add it$/],
    ["no password", { username: "ann" }, /has no key password/],
    ["an empty password", { ...good, password: "" }, /^the key password of Secret storage\/files must be one line/],
    ["a password of two lines", { ...good, password: "s3\ncret" }, /key password/],
    ["a user that mount.cifs would read a domain out of", { ...good, username: "s3/ann" }, /key username/],
    ["a user that mount.cifs would read a password out of", { ...good, username: "ann%s3" }, /key username/],
    ["a domain that would be another option", { ...good, domain: "s3,uid=0" }, /key domain/],
  ];
  for (const [what, values, text] of refused) {
    it(`refuses ${what}, without saying what is in it`, () => {
      const matched = expect(ofSecret(values)).to.throw(VolumeError, text);
      matched.with.property("reason", "KeyNotFound");
      expect(ofSecret(values)).to.throw().with.property("message").that.does.not.contain("s3");
    });
  }
});

describe("cifs", () => {
  const spec = (source: NonNullable<VolumeSpec["source"]["cifs"]>) =>
    ({
      key: "k",
      nodeName: "n",
      source: { cifs: source },
      volumeMode: "Filesystem",
      mountOptions: ["vers=3.1.1"],
    }) as VolumeSpec;

  it("is a mount of the share, by the Secret that it names, which is not shown", () => {
    const secretRef = { namespace: "storage", name: "files" };
    expect(cifs.layout(spec({ server: "nas", share: "a b/c", readOnly: true, secretRef }))).to.deep.equal({
      options: ["vers=3.1.1"],
      readOnly: true,
      devices: false,
      filesystem: { types: ["cifs", "smb3"], source: "//nas/a b/c", own: false },
      content: [{ kind: "Secret", ...secretRef, optional: false }],
      credentials: true,
    });
  });

  it("follows its Secret once with volumes that show it, however secretRef is ordered", () => {
    const of = (secretRef: { namespace: string; name: string }) =>
      cifs.layout(spec({ server: "nas", share: "a", secretRef })).content?.map(contentKey);
    const shown = contentKey({ kind: "Secret", namespace: "storage", name: "files", optional: true });
    expect(of({ namespace: "storage", name: "files" })).to.deep.equal([shown]);
    expect(of({ name: "files", namespace: "storage" })).to.deep.equal([shown]);
  });

  it("needs no Secret for a guest", () => {
    const layout = cifs.layout(spec({ server: "nas", share: "a" }));
    expect([layout.content, layout.credentials]).to.deep.equal([undefined, undefined]);
  });

  it("all shares of a server hang together", () => {
    expect(serverOf({ fsType: "cifs", source: "//nas/a", point: "/x" })).to.equal("smb nas");
    expect(serverOf({ fsType: "cifs", source: "//nas/b/c", point: "/y" })).to.equal("smb nas");
  });
});

describe("mount.cifs", () => {
  const helper = mountHelpers["cifs"];
  if (helper === undefined) throw new Error("no helper");
  const request = (more: Partial<FilesystemMount> = {}): FilesystemMount => ({
    fsType: "cifs",
    source: "//nas/a",
    options: ["vers=3.1.1"],
    attributes: stagingAttributes,
    target: { prefix: "/state", path: "/state/staging/k" },
    credentials: good,
    ...more,
  });

  it("gets the password and the user in its environment, never among its arguments", () => {
    expect(helper.args(request(), ["rw", "nosuid"])).to.deep.equal([
      ...["//nas/a", "/state/staging/k"],
      ...["-o", "rw,nosuid,vers=3.1.1,domain=CORP"],
    ]);
    expect(helper.env(request())).to.deep.equal({ USER: "ann", PASSWD: "a,b c%ü" });
    const { credentials: _none, ...guest } = request({ options: ["guest"] });
    expect(helper.env(guest)).to.deep.equal({});
  });

  const advice = "\nRefer to the mount.cifs(8) manual page (e.g. man mount.cifs) and kernel log messages (dmesg)";
  // As mount.cifs 7.0 said it on Linux 6.1.
  const said: [string, string, string][] = [
    [`mount error(13): Permission denied${advice}`, "CredentialsRefused", "final"],
    [`mount error(126): Required key not available${advice}`, "CredentialsRefused", "final"],
    [`mount error(2): No such file or directory${advice}`, "ShareNotFound", "final"],
    [`mount error(22): Invalid argument${advice}`, "OptionsRefused", "final"],
    [`mount error(95): Operation not supported${advice}`, "OptionsRefused", "final"],
    [
      "mount error(111): could not connect to 127.0.0.2Unable to find suitable address.",
      "ServerUnreachable",
      "transient",
    ],
    ["mount error: could not resolve address for nosuch.example: Unknown error", "ServerUnreachable", "transient"],
    [`mount error(112): Host is down${advice}`, "ServerUnreachable", "transient"],
    [
      "mount error: cifs filesystem not supported by the system\nmount error(19): No such device",
      "FilesystemUnsupported",
      "final",
    ],
  ];
  for (const [text, reason, errorClass] of said) {
    it(`means ${reason} by ${text.slice(0, 60).split("\n")[0]}`, () => {
      const error = helper.failure(request(), text);
      expect(error).to.include({ reason, errorClass });
      expect(error.message).to.not.contain("Refer to");
    });
  }

  it("would not give a password away if it said it", () => {
    expect(helper.failure(request(), "mount error(112): a,b c%ü").message).to.not.contain("a,b c%ü");
  });
});
