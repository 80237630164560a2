import { expect } from "chai";
import type { ISCSIVolumeSource } from "../../../../src/api/types.gen.ts";
import { VolumeError } from "../../../../src/errors.ts";
import { contentKey } from "../../../../src/plugins/api/content.ts";
import type { VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { chapOf } from "../../../../src/plugins/iscsi/credentials.ts";
import { iscsi } from "../../../../src/plugins/iscsi/iscsi.ts";

const content = (values: Record<string, string>) => ({
  version: "u/1",
  data: new Map(Object.entries(values).map(([key, value]) => [key, Buffer.from(value)] as const)),
});
const source: ISCSIVolumeSource = {
  targetPortal: "10.0.0.1",
  iqn: "iqn.2024-01.example:a",
  lun: 1,
  chapAuthSession: true,
  secretRef: { namespace: "storage", name: "chap" },
};
const session = (more: Record<string, string>) =>
  Object.fromEntries(Object.entries(more).map(([key, value]) => [`node.session.auth.${key}`, value]));
const good = { username: "ua", password: "s3cret of ua" };

describe("CHAP of an iSCSI volume", () => {
  it("goes by the keys of open-iscsi, and of both sides where the Secret has them", () => {
    expect(chapOf(source, content(session(good)))).to.deep.equal({ session: good });
    const mutual = session({ ...good, username_in: "t", password_in: "s3-of-target\n" });
    expect(chapOf(source, content(mutual)).session?.in).to.deep.equal({ username: "t", password: "s3-of-target" });
    const discovery = { "discovery.sendtargets.auth.username": "d", "discovery.sendtargets.auth.password": "s3-of-d" };
    const both = { ...source, chapAuthDiscovery: true };
    expect(chapOf(both, content({ ...session(good), ...discovery })).discovery?.username).to.equal("d");
    expect(chapOf({ targetPortal: "a", iqn: "b", lun: 0 }, undefined)).to.deep.equal({});
  });

  const refused: [string, Record<string, string>, RegExp][] = [
    ["no user", { password: "s3" }, /^Secret storage\/chap has no key node\.session\.auth\.username: add it$/],
    ["no password", { username: "ua" }, /has no key node\.session\.auth\.password/],
    ["half of what the target is to prove", { ...good, password_in: "s3-of-target" }, /no key .*\.username_in/],
    [
      "a password that would be a setting of its own",
      { ...good, password: "s3\nnode.x = 1" },
      /auth\.password .* one line/,
    ],
    ["a password that open-iscsi would cut", { ...good, password: "s3 " }, /auth\.password/],
  ];
  for (const [what, values, text] of refused) {
    it(`is refused with ${what}, without saying what is in it`, () => {
      const matched = expect(() => chapOf(source, content(session(values)))).to.throw(VolumeError, text);
      matched.with.property("reason", "KeyNotFound");
      matched.with.property("message").that.does.not.contain("s3");
    });
  }

  it("is followed as what the volume is mounted with, in whatever order the API server has the reference", () => {
    const spec = { key: "k", nodeName: "n", source: { iscsi: source }, volumeMode: "Filesystem", mountOptions: [] };
    const layout = iscsi.layout(spec as VolumeSpec);
    expect([layout.credentials, layout.devices, layout.grows]).to.deep.equal([true, false, true]);
    const [ref] = layout.content ?? [];
    const turned = { ...source, secretRef: { name: "chap", namespace: "storage" } };
    const [other] = iscsi.layout({ ...spec, source: { iscsi: turned } } as VolumeSpec).content ?? [];
    expect(ref && contentKey(ref)).to.equal(other && contentKey(other));
  });
});
