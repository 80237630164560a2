import { expect } from "chai";
import fc from "fast-check";
import type { VolumeSource } from "../../../../src/api/types.gen.ts";
import { nodeLabel, volumeIdentity } from "../../../../src/controller/model/volume-identity.ts";

describe("volumeIdentity", () => {
  const of = (source: VolumeSource, more: Partial<Parameters<typeof volumeIdentity>[0]> = {}) =>
    volumeIdentity({
      nodeName: "worker-1",
      setName: "scratch",
      setUID: "u1",
      volume: { source, volumeMode: "Filesystem" },
      ...more,
    });

  const named: [VolumeSource, string][] = [
    [{ emptyDir: {} }, "scratch"],
    [{ hostPath: { path: "/srv/Data_Sets" } }, "data-sets"],
    [{ hostPath: { path: "/srv/…" } }, "hostpath"],
    [{ local: { path: "/dev/sdb" } }, "sdb"],
    [{ configMap: { namespace: "a", name: "my.config" } }, "my-config"],
    [{ secret: { namespace: "a", secretName: "keys" } }, "keys"],
    [{ nfs: { server: "s", path: "/exports/home" } }, "home"],
    [{ nfs: { server: "s", path: "/" } }, "nfs"],
    [{ hostPath: { path: `/${"x".repeat(39)}-y` } }, "x".repeat(39)],
  ];
  for (const [source, name] of named) {
    it(`calls ${JSON.stringify(source).slice(0, 60)} ${name}`, () => {
      const { volumeName, intentName } = of(source);
      expect(volumeName).to.equal(name);
      expect(intentName).to.match(new RegExp(`^worker-1\\.${name}-[0-9a-f]{10}$`));
    });
  }

  it("is by the source and not by the set, but for an emptyDir", () => {
    const path = { hostPath: { path: "/srv/a" } };
    expect(of(path).intentName).to.equal(of(path, { setName: "other", setUID: "u2" }).intentName);
    expect(of({ emptyDir: {} }).intentName).not.to.equal(of({ emptyDir: {} }, { setUID: "u2" }).intentName);
  });

  it("leaves out what says nothing, and keeps the order of members out of it", () => {
    const plain = of({ hostPath: { path: "/a" } });
    expect(of({ hostPath: { type: "", path: "/a" } })).to.deep.equal(plain);
    expect(plain.source).to.deep.equal({ hostPath: { path: "/a" } });
    const configMap = { namespace: "n", name: "c" };
    expect(of({ configMap: { ...configMap, items: [], optional: false } }).intentName).to.equal(
      of({ configMap: { name: "c", namespace: "n" } }).intentName,
    );
  });

  it("differs by node, mode, file system and each member of the source", () => {
    const source = { local: { path: "/dev/sdb" } };
    const names = [
      of(source),
      of(source, { nodeName: "worker-2" }),
      of(source, { volume: { source, volumeMode: "Block" } }),
      of(source, { volume: { source, volumeMode: "Filesystem", fsType: "xfs" } }),
      of({ local: { path: "/dev/sdc" } }),
      of({ hostPath: { path: "/dev/sdb" } }),
    ].map(({ intentName }) => intentName.replace(/^[^.]*\./, ""));
    expect(new Set(names).size).to.equal(names.length);
  });

  it("law: a name is a DNS subdomain of at most 253 characters, whatever the node and the path are", () => {
    const nodeName = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/);
    fc.assert(
      fc.property(nodeName, fc.string({ maxLength: 300 }), (name, path) => {
        const { intentName } = of({ hostPath: { path: `/${path}` } }, { nodeName: name });
        expect(intentName.length).to.be.at.most(253);
        expect(nodeLabel(name)).to.match(/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/);
        if (!/[-.][.]|[.][-]/.test(name)) {
          expect(intentName).to.match(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
        }
      }),
    );
  });

  it("long names that are cut stay apart", () => {
    const long = (end: string) => of({ emptyDir: {} }, { nodeName: `${"n".repeat(240)}${end}` }).intentName;
    expect(long("a")).not.to.equal(long("b"));
    expect(nodeLabel(`${"n".repeat(240)}a`)).not.to.equal(nodeLabel(`${"n".repeat(240)}b`));
  });
});
