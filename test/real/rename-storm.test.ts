import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { LayoutDirectory } from "../../src/host/linux/image/layout-directory.ts";
import { AT_FDCWD, O, RESOLVE } from "../../src/host/linux/syscall/constants.ts";
import { Descriptor } from "../../src/host/linux/syscall/descriptor.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { ImageWorld } from "../lib/kernel/agents/image-world.ts";
import { withProcesses } from "../lib/kernel/processes.ts";
import { withEach } from "../lib/kernel/with-node.ts";
import { tarOf } from "../lib/servers/contract-registry.ts";

const storm =
  "const {mkdirSync,renameSync}=require('fs');mkdirSync('a');console.log('begun');for(;;){renameSync('a','b');renameSync('b','a')}";

/** The kernel gives up on ".." while anything on the machine is renamed: any pod can do that. */
describe("while others rename directories of their own, as fast as they can", function () {
  this.timeout(60_000); // on machines that have others at work
  let world: ImageWorld;
  const others = withProcesses();

  withEach(ImageWorld, [], async (made) => {
    world = made;
    for (const name of ["one", "two"]) {
      const cwd = `${world.node.path}/src/${name}`;
      mkdirSync(cwd);
      const other = spawn(process.execPath, ["-e", storm], { cwd, stdio: ["ignore", "pipe", "inherit"] });
      others.push(other);
      await once(other.stdout ?? other, "data");
    }
  });

  const dots = "d/../".repeat(3);

  it("walks with .. in them succeed", () => {
    const libc = loadLibc();
    mkdirSync(`${world.node.path}/src/d`);
    using root = new Descriptor(libc.openat2(AT_FDCWD, `${world.node.path}/src`, O.PATH | O.CLOEXEC, 0, 0));
    for (let walk = 0; walk < 3000; walk++) {
      using _there = new Descriptor(
        libc.openat2(root.fd, `${dots.repeat(4)}d`, O.PATH | O.CLOEXEC, 0, RESOLVE.IN_ROOT),
      );
    }
  });

  it("an image whose links have .. in them is shown", async () => {
    const files = Array.from({ length: 500 }, (_, at) => ({ name: `opt/x/lib/${at}` }));
    const links = [
      { name: "usr/lib/", type: "5", mode: 0o755 },
      { name: "opt/x/lib", type: "2", target: `../../usr/${"lib/../".repeat(2)}lib` },
    ];
    const path = await world.shown(world.registry.image(world.registry.layer(tarOf(...links, ...files))));
    expect(readdirSync(`${path}/usr/lib`)).to.have.length(500);
  });

  it("a layout by a link with .. in it is found", async () => {
    const src = `${world.node.path}/src`;
    mkdirSync(`${src}/layout/blobs/sha256`, { recursive: true });
    mkdirSync(`${src}/d`);
    symlinkSync(`${dots}layout`, `${src}/link`);
    const { digest } = world.registry.put(Buffer.from("bytes"), "text/plain");
    writeFileSync(`${src}/layout/blobs/${digest.replace(":", "/")}`, "bytes");
    for (let walk = 0; walk < 300; walk++) {
      const layout = new LayoutDirectory(loadLibc(), { root: src, path: "/link" });
      if (walk === 0) expect((await layout.manifest(digest)).toString()).to.equal("bytes");
    }
  });
});
