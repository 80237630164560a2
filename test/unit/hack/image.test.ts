import { expect } from "chai";
import { imageEnvironment, nodeOptions } from "../../../hack/lib/image.ts";

describe("what the image starts", () => {
  it("nodeOptions are those of the Dockerfile's ENTRYPOINT", () => {
    expect(nodeOptions()).to.deep.equal(["--max-semi-space-size=4"]);
  });

  it("imageEnvironment is the Dockerfile's ENV in that of its own", () => {
    expect(imageEnvironment({ PATH: "/bin", NODE_ENV: "test" })).to.deep.equal({
      PATH: "/bin",
      NODE_ENV: "production",
      MALLOC_ARENA_MAX: "1",
    });
  });
});
