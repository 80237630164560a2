import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { removedTranslators } from "../../hack/lib/image.ts";
import { GlusterServer, glusterAddress } from "../lib/servers/gluster.ts";
import { type Scratch, scratch } from "./scratch.ts";

describe("the image's client of GlusterFS", () => {
  let server: GlusterServer;
  let place: Scratch;

  before(async function () {
    this.timeout(180_000);
    server = await GlusterServer.start(this);
    server.volume("one");
    place = scratch();
  });
  after(async () => {
    place?.[Symbol.dispose]();
    await server?.[Symbol.asyncDispose]();
  });

  it("mounts a volume, and builds no graph of the node's own files", () => {
    const at = (name: string) => `${place.path}/${name}`;
    for (const name of ["node", "mount"]) mkdirSync(at(name));
    writeFileSync(at("node/file"), "the node's");
    writeFileSync(at("graph"), `volume x\ntype storage/posix\noption directory ${at("node")}\nend-volume\n`);
    writeFileSync(`${server.brick("one")}/served`, "the server's");
    const shown = (args: string, file: string, without: readonly string[]) => {
      const script = `set -e; cd /usr/lib/*/glusterfs/*/xlator; for part in ${without.join(" ")}; do mount --bind /dev/null "$part"; done
        glusterfs ${args} --log-file=${at("graph.log")} ${at("mount")} >/dev/null 2>&1 || exit 7; cat ${at("mount")}/${file}; umount ${at("mount")}`;
      const { status, stdout } = spawnSync("unshare", ["-m", "sh", "-c", script], { encoding: "utf8" });
      return status === 7 ? "refused" : stdout;
    };
    const ofServer = `--volfile-server=${glusterAddress} --volfile-id=/one`;
    const hostile = `--volfile=${at("graph")}`;
    expect(shown(hostile, "file", []), "Debian's").to.equal("the node's");
    expect(shown(hostile, "file", removedTranslators())).to.equal("refused");
    expect(shown(ofServer, "served", removedTranslators())).to.equal("the server's");
  });
});
