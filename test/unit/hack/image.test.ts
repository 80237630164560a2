import { expect } from "chai";
import { imageEnvironment, nodeOptions, removedTranslators } from "../../../hack/lib/image.ts";

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
