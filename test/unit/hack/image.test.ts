import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { build } from "esbuild";
import { imageEnvironment, nodeOptions, removedTranslators } from "../../../hack/lib/image.ts";
import { root } from "../../../hack/lib/root.ts";

describe("what the image starts", () => {
  it("nodeOptions are those of the Dockerfile's ENTRYPOINT", () => {
    expect(nodeOptions()).to.deep.equal(["--max-semi-space-size=4", "--disable-warning=DEP0040"]);
  });

  it("imageEnvironment is the Dockerfile's ENV in that of its own, where programs lie elsewhere", () => {
    expect(imageEnvironment({ PATH: "/bin", NODE_ENV: "test" })).to.deep.equal({
      PATH: "/bin",
      NODE_ENV: "production",
      MALLOC_ARENA_MAX: "1",
      UV_THREADPOOL_SIZE: "16",
    });
  });

  it("removedTranslators are what would serve files of the node to itself, and nothing that a client needs", () => {
    const removed = removedTranslators();
    expect(removed).to.include.members(["storage/posix.so", "protocol/server.so", "mgmt/glusterd.so"]);
    const needed =
      /^(cluster|performance|debug|mount|system)\/|^protocol\/client|^meta|^features\/(utime|shard|snapview-client)\./;
    expect(removed.filter((name) => needed.test(name))).to.deep.equal([]);
  });
});

describe("what the image is built of", () => {
  it("is all that hack/build.ts imports: the Dockerfile copies it", async () => {
    const { metafile } = await build({
      ...{ absWorkingDir: root, entryPoints: ["hack/build.ts"], bundle: true, write: false, metafile: true },
      ...{ platform: "node", format: "esm", packages: "external", logLevel: "silent" },
    });
    const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = ""]) => from.split(" "));
    const isCopied = (path: string) => copied.some((from) => path === from || path.startsWith(`${from}/`));
    const needed = Object.keys(metafile.inputs);
    expect(needed).to.include("hack/lib/bundle.ts");
    expect(needed.filter((path) => !isCopied(path))).to.deep.equal([]);
  });
});
