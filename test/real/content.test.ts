import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("content that changes, on the real kernel", () => {
  let node: RealNode;

  withNode([], (made) => {
    node = made;
  });

  const put = (version: string, data: { [key: string]: string }) =>
    node.contents.set("cm", {
      version,
      data: new Map(Object.entries(data).map(([k, v]) => [k, Buffer.from(v)])),
    });
  const shown = (target: string) => {
    const path = node.target(target);
    const names = readdirSync(path).filter((file) => !file.startsWith(".."));
    return Object.fromEntries(names.map((file) => [file, readFileSync(`${path}/${file}`, "utf8")]));
  };
  const configMap = (more: object = {}) =>
    intent({
      source: { configMap: { namespace: "default", name: "cm", ...more } },
      mounts: [{ path: node.target("a") }, { path: node.target("b") }],
    });
  const other = () =>
    intent({
      name: "node.other-1",
      source: { hostPath: { path: `${node.path}/src` } },
      mounts: [{ path: node.target("other") }],
    });

  it("reaches every target in one step, with every mount as it was; other volumes are not asked", async () => {
    put("u/1", { key: "old", gone: "x" });
    node.want(configMap(), other());
    await node.converge();
    const before = node.mounts();
    node.done.length = 0;
    put("u/2", { key: "new", more: "y" });
    await node.converge();
    for (const target of ["a", "b"]) expect(shown(target)).to.deep.equal({ key: "new", more: "y" });
    expect(node.done).to.deep.equal(["refresh"]);
    expect(node.mounts()).to.deep.equal(before);
    await node.converge();
    expect(node.done).to.deep.equal(["refresh"]);
  });

  it("a new version with equal content is not written", async () => {
    put("u/1", { key: "same" });
    node.want(configMap());
    await node.converge();
    const before = readlinkSync(`${node.target("a")}/..data`);
    put("u/2", { key: "same" });
    await node.converge();
    expect(readlinkSync(`${node.target("a")}/..data`)).to.equal(before);
    expect((await node.journal()).records.get(name)?.stage?.contentVersion).to.equal("u/2");
  });

  it("one that cannot be shown leaves what is shown, and says why", async () => {
    put("u/1", { key: "old" });
    node.want(configMap({ items: [{ key: "key", path: "file" }] }));
    await node.converge();
    const before = node.mounts();
    put("u/2", { another: "new" });
    expect((await node.volume(name)).failure?.reason).to.equal("KeyNotFound");
    expect(shown("a")).to.deep.equal({ file: "old" });
    expect(node.mounts()).to.deep.equal(before);
    node.contents.delete("cm");
    const lost = await node.volume(name);
    expect(lost.problems.volume?.reason).to.equal("ConfigMapNotFound");
    expect(shown("b")).to.deep.equal({ file: "old" });
  });

  it("of several sources is written as one when any of them changes, and not at all while one is missing", async () => {
    const token = (text: string) =>
      node.contents.set("sa", { version: `until-${text}`, data: new Map([["token", Buffer.from(text)]]) });
    const serviceAccountToken = { namespace: "default", serviceAccountName: "sa", path: "token" };
    const sources = [{ configMap: { namespace: "default", name: "cm" } }, { serviceAccountToken }];
    put("u/1", { key: "old" });
    node.want(intent({ source: { projected: { sources } }, mounts: [{ path: node.target("a") }] }));
    await node.converge();
    expect(existsSync(node.target("a"))).to.equal(false);
    token("one");
    await node.converge();
    expect(shown("a")).to.deep.equal({ key: "old", token: "one" });
    const before = node.mounts();
    node.done.length = 0;
    token("two");
    await node.converge();
    expect(shown("a")).to.deep.equal({ key: "old", token: "two" });
    put("u/2", { key: "new" });
    await node.converge();
    expect(shown("a")).to.deep.equal({ key: "new", token: "two" });
    expect(node.done).to.deep.equal(["refresh", "refresh"]);
    expect(node.mounts()).to.deep.equal(before);
    expect((await node.journal()).records.get(name)?.stage?.contentVersion).to.equal("u/2 until-two");
    node.contents.delete("sa");
    const lost = await node.volume(name);
    expect(lost.problems.volume?.message).to.equal("no sa");
    expect(shown("a")).to.deep.equal({ key: "new", token: "two" });
  });

  it("that would be a file and a directory is not written, and nothing is touched", async () => {
    put("u/1", { a: "file" });
    node.contents.set("sa", { version: "t", data: new Map([["token", Buffer.from("t")]]) });
    const serviceAccountToken = { namespace: "default", serviceAccountName: "sa", path: "a/token" };
    const sources = [{ configMap: { namespace: "default", name: "cm" } }, { serviceAccountToken }];
    node.want(intent({ source: { projected: { sources } }, mounts: [{ path: node.target("a") }] }));
    expect((await node.volume(name)).failure?.reason).to.equal("FileConflict");
    expect(node.mounts()).to.deep.equal([]);
    put("u/2", { b: "file" });
    node.forgetFailures();
    await node.converge();
    expect(readFileSync(`${node.target("a")}/a/token`, "utf8")).to.equal("t");
  });
});
