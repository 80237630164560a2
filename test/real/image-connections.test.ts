import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { ImageWorld } from "../lib/kernel/agents/image-world.ts";
import { withEach } from "../lib/kernel/with-node.ts";
import { tarOf } from "../lib/servers/contract-registry.ts";

describe("images, on the real kernel, by connections that do not last", function () {
  this.timeout(60_000); // on machines that have others at work
  let world: ImageWorld;

  withEach(ImageWorld, [], (made) => {
    world = made;
  });

  it("comes from a registry that breaks every connection at some byte, if it gives what is left, with a token and from elsewhere", async () => {
    const { registry } = world;
    const content = randomBytes(300_000);
    registry.token = "t0ken";
    registry.redirects = true;
    let at = 1;
    registry.breaks = (_, bytes) => {
      at = (at * 48_271) % 2_147_483_647; // the same each time
      return at % (bytes + 1);
    };
    const layers = ["a", "b", "c"].map((name) => registry.layer(tarOf({ name, content }), ""));
    const path = await world.shown(registry.image(...layers));
    for (const name of ["a", "b", "c"]) expect(readFileSync(`${path}/${name}`).equals(content), name).to.equal(true);
    expect(registry.requests.length).to.be.greaterThan(10);
  });

  it("comes whole from a registry that closes each connection, of many small files", async () => {
    const { registry } = world;
    registry.answers = (_, response) => {
      response.setHeader("Connection", "close");
      return false;
    };
    const names = Array.from({ length: 3000 }, (_, at) => ({ name: `d${at}/`, type: "5", mode: 0o755 }));
    const path = await world.shown(registry.image(registry.layer(tarOf(...names))));
    expect(readdirSync(path)).to.have.length(3000);
    expect(registry.requests).to.have.length(2);
  });
});
