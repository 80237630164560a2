import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { expect } from "chai";
import { intent, type RealNode } from "../lib/real-node.ts";
import { withNode } from "../lib/with-node.ts";

const name = "node.volume-1";

describe("refusals, on the real kernel", () => {
  let node: RealNode;
  withNode((made) => {
    node = made;
  });

  const source = () => ({ hostPath: { path: `${node.path}/src` } });
  const problemAt = async (path: string) => (await node.volume(name)).problems.get(path)?.reason;

  it("a target outside the allowed prefixes", async () => {
    const outside = `${node.path}/elsewhere`;
    node.want(intent({ source: source(), mounts: [{ path: outside }] }));
    expect(await problemAt(outside)).to.equal("PathNotAllowed");
    expect(existsSync(outside)).to.equal(false);
  });

  it("the prefix itself", async () => {
    node.want(intent({ source: source(), mounts: [{ path: `${node.path}/mnt` }] }));
    expect(await problemAt(`${node.path}/mnt`)).to.equal("PathNotAllowed");
  });

  it("a source in the agent's own state, by name and by a link", async () => {
    symlinkSync(`${node.stateDir}`, `${node.path}/link`);
    for (const path of [`${node.stateDir}/data`, `${node.path}/link`]) {
      node.want(intent({ source: { hostPath: { path } }, mounts: [{ path: node.target("a") }] }));
      mkdirSync(`${node.stateDir}/data`, { recursive: true });
      const volume = await node.volume(name);
      expect(volume.problems.get("")?.reason ?? volume.failure?.reason, path).to.equal("SourceNotAllowed");
      expect(node.mounts()).to.deep.equal([]);
    }
  });

  it("a symbolic link on the way to the target", async () => {
    mkdirSync(`${node.path}/elsewhere`);
    symlinkSync(`${node.path}/elsewhere`, node.target("link"));
    node.want(intent({ source: source(), mounts: [{ path: node.target("link/a") }] }));
    expect((await node.volume(name)).failure?.reason).to.equal("SymlinkInPath");
    expect(readdirSync(`${node.path}/elsewhere`)).to.deep.equal([]);
  });

  it("a hostPath of another type, and one that is missing", async () => {
    node.want(
      intent({
        source: { hostPath: { path: `${node.path}/src`, type: "File" } },
        mounts: [{ path: node.target("a") }],
      }),
    );
    expect((await node.volume(name)).failure?.reason).to.equal("SourceWrongType");
    node.want(
      intent({ source: { hostPath: { path: "/no/such" } }, generation: 2, mounts: [{ path: node.target("a") }] }),
    );
    expect((await node.volume(name)).failure?.reason).to.equal("SourceNotFound");
  });
});
