import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { expect } from "chai";
import { ImageWorld } from "../lib/kernel/agents/image-world.ts";
import { withEach } from "../lib/kernel/with-node.ts";
import { tarOf } from "../lib/servers/contract-registry.ts";

const architecture = process.arch === "x64" ? "amd64" : process.arch;

describe("images, on the real kernel, from what stands for a registry", function () {
  this.timeout(60_000); // on machines that have others at work
  let world: ImageWorld;

  withEach(ImageWorld, [], (made) => {
    world = made;
  });

  const small = () => world.registry.image(world.registry.layer(tarOf({ name: "a", content: "kept" })));

  it("shows layers one over the other, with whiteouts, owners and modes, to be read only", async () => {
    const { registry } = world;
    const base = tarOf(
      { name: "usr/", type: "5", mode: 0o755 },
      { name: "usr/lib/", type: "5", mode: 0o750, uid: 7 },
      { name: "lib", type: "2", target: "usr/lib" },
      { name: "usr/lib/old", content: "old" },
      { name: "usr/lib/stays", content: "stays" },
      { name: "gone/a", content: "a" },
      { name: "becomes-file/in", content: "in" },
      { name: "becomes-directory", content: "file" },
      { name: "hidden/a", content: "a" },
    );
    const middle = tarOf(
      { name: "lib/new", content: "by the link", mode: 0o640, uid: 1000 },
      { name: "usr/lib/.wh.old", content: "" },
      { name: ".wh.gone", content: "" },
      { name: "hidden/b", content: "b" },
      { name: "hidden/.wh..wh..opq", content: "" },
    );
    const top = tarOf(
      { name: "becomes-file", content: "now a file" },
      { name: "becomes-directory/", type: "5", mode: 0o755 },
      { name: "becomes-directory/in", content: "in" },
      { name: "./usr/lib/stays.too", type: "1", target: "usr/lib/stays" },
      { name: "fifo", type: "6" },
      { name: "sda", type: "4" },
    );
    const path = await world.shown(
      registry.image(registry.layer(base), registry.layer(middle, "+zstd"), registry.layer(top, "")),
    );
    const names = (at: string) => readdirSync(`${path}/${at}`).sort();
    expect(names("")).to.deep.equal(["becomes-directory", "becomes-file", "hidden", "lib", "usr"]);
    expect(names("usr/lib")).to.deep.equal(["new", "stays", "stays.too"]);
    expect([names("hidden"), names("becomes-directory")]).to.deep.equal([["b"], ["in"]]);
    expect(readlinkSync(`${path}/lib`)).to.equal("usr/lib");
    const { mode, uid, gid } = statSync(`${path}/usr/lib/new`);
    expect([mode & 0o7777, uid, gid]).to.deep.equal([0o640, 1000, 1000]);
    expect(statSync(`${path}/usr/lib`).mode & 0o7777).to.equal(0o750);
    expect(statSync(`${path}/usr/lib/stays`).nlink).to.equal(2);
    expect(statSync(`${path}/usr/lib/stays`).mtimeMs).to.equal(512_000);
    expect(world.node.mountAt(path)?.options).to.include.members(["ro", "nosuid", "nodev"]);
    expect(world.data).to.deep.equal(["tree"]);
  });

  it("keeps bits of mode and owners, and goes on in directories of others that nobody else may enter", async () => {
    const { registry } = world;
    const base = tarOf(
      { name: "su", content: "su", mode: 0o4755 },
      { name: "mail", content: "mail", mode: 0o2755, uid: 7 },
      { name: "tmp/", type: "5", mode: 0o1777 },
      { name: "home/", type: "5", mode: 0o700, uid: 1000 },
      { name: "home/key", content: "old", mode: 0o400, uid: 1000 },
      { name: "home/other", type: "1", target: "home/key" },
    );
    const top = tarOf(
      { name: "home/key", content: "new", mode: 0o2400, uid: 1001 },
      { name: "home/deep/in", content: "in", uid: 1002 },
      { name: "home/.wh.other", content: "" },
      { name: "home/", type: "5", mode: 0o2500, uid: 1000 },
    );
    const path = await world.shown(registry.image(registry.layer(base), registry.layer(top)));
    const found = ["su", "mail", "tmp", "home", "home/key", "home/deep/in"].map((name) => {
      const { mode, uid, gid } = statSync(`${path}/${name}`);
      return `${name} ${(mode & 0o7777).toString(8)} ${uid}:${gid}`;
    });
    expect(found).to.deep.equal([
      ...["su 4755 0:0", "mail 2755 7:7", "tmp 1777 0:0"],
      ...["home 2500 1000:1000", "home/key 2400 1001:1001", "home/deep/in 644 1002:1002"],
    ]);
    expect(readdirSync(`${path}/home`).sort()).to.deep.equal(["deep", "key"]);
  });

  it("shows what GNU tar writes, in its own format and in that of pax, with long names and large files", async () => {
    const { registry } = world;
    const long = `${"directory-with-a-name/".repeat(8)}${"n".repeat(150)}-ü`;
    const content = randomBytes(3_000_000);
    const from = `${world.node.path}/src/from`;
    mkdirSync(`${from}/${long.slice(0, long.lastIndexOf("/"))}`, { recursive: true });
    writeFileSync(`${from}/${long}`, content, { mode: 0o755 });
    const tar = (format: string) =>
      execFileSync("tar", ["-C", from, "-c", `--format=${format}`, "."], { maxBuffer: 1e8 });
    for (const format of ["gnu", "pax"]) {
      const path = await world.shown(registry.image(registry.layer(tar(format))));
      expect(readFileSync(`${path}/${long}`).equals(content), format).to.equal(true);
    }
  });

  it("takes what is for this machine, with a token for anybody, and layers that are elsewhere", async () => {
    const { registry } = world;
    registry.token = "t0ken";
    registry.redirects = true;
    const other = { ...registry.image(registry.layer(tarOf({ name: "other" }))), architecture: "s390x" };
    const path = await world.shown(registry.index(other, { ...small(), architecture }));
    expect(readdirSync(path)).to.deep.equal(["a"]);
    expect(registry.requests).to.include("/token");
  });

  it("goes before the agent when memory runs out", async () => {
    const { registry } = world;
    const image = small();
    const scores: (string | undefined)[] = [];
    registry.answers = () => {
      const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "latin1").trim().split(" ");
      scores.push(...children.map((pid) => readFileSync(`/proc/${pid}/oom_score_adj`, "latin1").trim()));
      return false;
    };
    await world.shown(image);
    expect(scores).to.include("1000");
  });

  it("does not need the registry again after a restart", async () => {
    const image = small();
    const path = await world.shown(image);
    const asked = world.registry.requests.length;
    await world.node.restart();
    await world.shown(image);
    expect(readFileSync(`${path}/a`, "utf8")).to.equal("kept");
    expect(world.registry.requests.length).to.equal(asked);
  });

  it("shows neither what a link in the place of its files leads to, nor a file, as whoever controls the child makes them", async () => {
    const { registry, node } = world;
    const image = small();
    registry.answers = (_, response) => {
      response.destroy();
      return true;
    };
    expect(await world.failure(image)).to.match(/^ServerUnreachable: /);
    registry.answers = () => false;
    const [key = ""] = readdirSync(`${node.stateDir}/data`);
    const tree = `${node.stateDir}/data/${key}/tree`;
    symlinkSync(`${node.path}/src`, tree);
    expect(await world.failure(image)).to.match(/^SymlinkInPath: .*tree leads through a symbolic link/);
    rmSync(tree);
    writeFileSync(tree, "of another kind");
    expect(await world.failure(image)).to.match(/^ContentRefused: .*tree is not a directory/);
  });

  it("says what is wrong, begins again, and leaves nothing of what failed", async () => {
    const { registry } = world;
    const layer = registry.layer(tarOf({ name: "a", content: randomBytes(100_000) }));
    const image = registry.image(layer);
    registry.answers = (_, response) => {
      response.destroy();
      return true;
    };
    expect(await world.failure(image)).to.match(/^ServerUnreachable: 127.0.0.1:[0-9]+ does not answer/);
    registry.answers = (_, response) => {
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="x"' }).end();
      return true;
    };
    expect(await world.failure(image)).to.match(/^RepositoryRefused: .* answers 401 .* name a Secret with credentials/);
    registry.answers = () => false;
    expect(await world.failure({ ...image, digest: `sha256:${"0".repeat(64)}` })).to.match(
      /^RevisionNotFound: .* answers 404/,
    );
    expect(await world.failure(image, { sizeLimit: "64Ki" })).to.match(/^ContentTooLarge: .* more than 65536 bytes/);
    const index = registry.index({ ...image, architecture: "s390x" });
    expect(await world.failure(index)).to.match(/^RevisionNotFound: .* for linux\/s390x/);
    const wasm = registry.image(registry.put(Buffer.from("x"), "application/wasm"));
    expect(await world.failure(wasm)).to.match(/^ContentRefused: .* application\/wasm, which is no file system/);
    expect(world.data.filter((name) => name !== "new")).to.deep.equal([]);
    world.node.forgetFailures();
    expect(readdirSync(await world.shown(image))).to.deep.equal(["a"]);
    expect(world.data).to.deep.equal(["tree"]);
  });

  it("shows nothing that is not what its digest says, or not all of it", async () => {
    const { registry } = world;
    const tar = tarOf({ name: "a", content: "x".repeat(10_000) });
    const layer = registry.layer(tar, "");
    const image = registry.image(layer);
    const evil = tarOf({ name: "b", content: "x".repeat(10_000) });
    for (const [what, bytes] of [
      ["other bytes", evil],
      ["less", tar.subarray(0, 2048)],
      ["more", Buffer.concat([tar, tar])],
    ] as const) {
      registry.replace(layer, bytes);
      expect(await world.failure(image), what).to.match(/^ContentRefused: /);
    }
    const gzip = registry.layer(tar);
    registry.replace(gzip, Buffer.from("no gzip"));
    expect(await world.failure(registry.image(gzip)), "no gzip").to.match(/^ContentRefused: /);
  });

  describe("of hostile people", () => {
    const outside = () => ["", "src", "mnt"].map((at) => readdirSync(`${world.node.path}/${at}`).sort());

    it("links lead nowhere but into the image, and nothing is written anywhere else", async () => {
      const { registry } = world;
      const { path: node } = world.node;
      const canary = `canary-${randomUUID()}`;
      writeFileSync(`${node}/src/secret`, "s3cret");
      const layer = tarOf(
        { name: "up", type: "2", target: "../../../../../../.." },
        { name: "out", type: "2", target: node },
        { name: "dir/up", type: "2", target: "../../.." },
        { name: "/absolute", content: "x" },
      );
      const above = tarOf(
        { name: `up/tmp/${canary}`, content: "x" },
        { name: "dir/up/canary", content: "x" },
        { name: "out/src/canary", content: "x" },
        { name: "dir/up/.wh.absolute" },
      );
      const before = outside();
      const path = await world.shown(registry.image(registry.layer(layer), registry.layer(above)));
      expect(readFileSync(`${path}/tmp/${canary}`, "utf8"), "of the image's own root").to.equal("x");
      const [, made = ""] = node.split("/");
      expect(readdirSync(path).sort()).to.deep.equal([...new Set(["canary", "dir", made, "out", "tmp", "up"])].sort());
      expect(readFileSync(`${path}${node}/src/canary`, "utf8"), "where the link leads in the image").to.equal("x");
      expect(lstatSync(`${path}/out`).isSymbolicLink()).to.equal(true);
      expect([outside()[0], outside()[1]]).to.deep.equal([before[0], before[1]]);
      expect(existsSync(`/tmp/${canary}`) || existsSync("/canary")).to.equal(false);
    });

    const secret = (world: ImageWorld) => `${world.node.path}/src/secret`;
    const hostile: readonly { readonly title: string; readonly layer: (world: ImageWorld) => Buffer }[] = [
      { title: "a name with .. in it", layer: () => tarOf({ name: "a/b" }, { name: "a/../../canary", content: "x" }) },
      { title: "a hard link by ..", layer: () => tarOf({ name: "a", type: "1", target: "../../../../../src/secret" }) },
      {
        title: "a hard link to a file of the node",
        layer: (world) => tarOf({ name: "a", type: "1", target: secret(world) }),
      },
      {
        title: "a hard link by a link that leads out",
        layer: (world) =>
          tarOf(
            { name: "out", type: "2", target: `${world.node.path}/src` },
            { name: "a", type: "1", target: "out/secret" },
          ),
      },
      { title: "a whiteout of ..", layer: () => tarOf({ name: "a/.wh..." }, { name: "a/.wh..", content: "" }) },
      {
        title: "an archive that ends too early",
        layer: () => tarOf({ name: "a", content: "x".repeat(5000) }).subarray(0, 2048),
      },
      {
        title: "a path of more than 256 names",
        layer: () => tarOf({ name: "L", type: "L", content: `${"d/".repeat(256)}a\0` }, { name: "cut" }),
      },
      { title: "an entry that nobody knows", layer: () => tarOf({ name: "a", type: "Z" }) },
    ];

    for (const { title, layer } of hostile) {
      it(`${title} is refused, and nothing is written anywhere else`, async () => {
        writeFileSync(secret(world), "s3cret");
        const before = outside();
        expect(await world.failure(world.registry.image(world.registry.layer(layer(world))))).to.match(
          /^ContentRefused: /,
        );
        expect(outside()).to.deep.equal(before);
        expect(statSync(secret(world)).nlink).to.equal(1);
      });
    }
  });
});
