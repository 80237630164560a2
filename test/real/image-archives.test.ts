import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { expect } from "chai";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { ImageWorld } from "../lib/kernel/agents/image-world.ts";
import { withEach } from "../lib/kernel/with-node.ts";
import { type Described, entryOf, paxOf, type RawTarEntry, tarOf } from "../lib/servers/contract-registry.ts";

const oci = "application/vnd.oci.image.layer.v1.tar";
const directory = (name: string): RawTarEntry => ({ name, type: "5", mode: 0o755 });
const link = (name: string, target: string): RawTarEntry => ({ name, type: "2", target });

/** Images that other software has once read in another way than their builders meant, each of one kind. */
describe("images, on the real kernel, of archives that are rare", function () {
  this.timeout(60_000); // on machines that have others at work
  let world: ImageWorld;

  withEach(ImageWorld, [], (made) => {
    world = made;
  });

  const find = (path: string, format: string, ...more: string[]) =>
    execFileSync("find", [".", "-mindepth", "1", ...more, "-printf", format], { cwd: path, encoding: "utf8" });
  const tree = (path: string) => find(path, "%P%y ").trim().split(" ").sort().join(" ");
  const layers = (...archives: readonly Buffer[]) =>
    world.registry.image(...archives.map((tar) => world.registry.layer(tar)));
  const bytes = (content: Buffer, type: string) => world.registry.image(world.registry.put(content, type));

  const two = tarOf({ name: "one" }, { name: "two" });
  const shown: { readonly [title: string]: readonly [image: () => Described, tree: string] } = {
    "zstd of two frames": [
      () =>
        bytes(
          Buffer.concat([zstdCompressSync(two.subarray(0, 512)), zstdCompressSync(two.subarray(512))]),
          `${oci}+zstd`,
        ),
      "onef twof",
    ],
    "gzip of two members": [
      () => bytes(Buffer.concat([gzipSync(two.subarray(0, 512)), gzipSync(two.subarray(512))]), `${oci}+gzip`),
      "onef twof",
    ],
    "a layer that is not compressed as its type says": [() => bytes(two, `${oci}+gzip`), "onef twof"],
    "a layer that is compressed, as its type does not say": [() => bytes(gzipSync(two), oci), "onef twof"],
    "a layer of gzip that its type calls zstd": [() => bytes(gzipSync(two), `${oci}+zstd`), "onef twof"],
    "an archive behind the end of another": [
      () => layers(Buffer.concat([two, tarOf({ name: "hidden" })])),
      "onef twof",
    ],
    "an opaque whiteout behind what its layer has": [
      () =>
        layers(
          tarOf({ name: "a/b/old" }, { name: "a/old" }),
          tarOf(directory("a/"), directory("a/b/"), { name: "a/b/new" }, { name: "a/.wh..wh..opq" }),
        ),
      "a/b/newf a/bd ad",
    ],
    "a whiteout in what is gone": [
      () =>
        layers(tarOf({ name: "test/test" }, { name: "other" }), tarOf({ name: ".wh.test" }, { name: "test/.wh.test" })),
      "otherf",
    ],
    "a file beneath a link whose directory is gone": [
      () =>
        layers(
          tarOf(directory("real/"), { name: "real/f" }, link("things", "real")),
          tarOf({ name: ".wh.real" }, { name: "things/new" }),
        ),
      "real/newf reald thingsl",
    ],
    "a file beneath a link to what is not there yet": [
      () => layers(tarOf(directory("var/"), link("var/run", "/run")), tarOf({ name: "var/run/app.pid" })),
      "run/app.pidf rund var/runl vard",
    ],
    "a directory of V7": [() => layers(tarOf({ name: "d/", type: "\0" }, { name: "d/f" })), "d/ff dd"],
    "records of AUFS": [
      () =>
        layers(
          tarOf(...[{ name: ".wh..wh.aufs" }, directory(".wh..wh.plnk/"), { name: ".wh..wh.plnk/12.34" }], {
            name: "f",
            type: "1",
            target: ".wh..wh.plnk/12.34",
          }),
        ),
      "ff",
    ],
    "a hard link to itself": [() => layers(tarOf({ name: "f" }, { name: "f", type: "1", target: "f" })), "ff"],
    "a hard link to a device node": [
      () => layers(tarOf({ name: "n", type: "3" }, { name: "m", type: "1", target: "n" }, { name: "f" })),
      "ff",
    ],
    "an index in an index, whose only entry does not say what it is for": [
      () => {
        const put = (of: object) =>
          world.registry.put(
            Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: [of] })),
            "application/vnd.oci.image.index.v1+json",
          );
        return put(put(layers(two)));
      },
      "onef twof",
    ],
  };
  for (const [title, [image, wanted]] of Object.entries(shown)) {
    it(`shows ${title}`, async () => {
      expect(tree(await world.shown(image()))).to.equal(wanted);
    });
  }

  it("shows the sparse files of GNU tar in each of its formats, with their holes", async () => {
    const from = `${world.node.path}/src/from`;
    mkdirSync(from);
    const make =
      "truncate -s 8M disk && printf data | dd of=disk seek=1000000 bs=1 conv=notrunc && printf end | dd of=disk seek=7000000 bs=1 conv=notrunc";
    execFileSync("sh", ["-c", make], { cwd: from, stdio: "ignore" });
    for (const format of [
      "gnu",
      "posix --sparse-version=0.0",
      "posix --sparse-version=0.1",
      "posix --sparse-version=1.0",
    ]) {
      const tar = execFileSync("sh", ["-c", `tar -S --format=${format} -c disk`], { cwd: from });
      expect(tar.length, format).to.be.lessThan(1_000_000);
      const path = await world.shown(layers(tar));
      expect(readFileSync(`${path}/disk`).equals(readFileSync(`${from}/disk`)), format).to.equal(true);
      expect(Number(find(path, "%b")), format).to.be.lessThan(1000);
    }
  });

  it("counts the holes of a file for sizeLimit", async () => {
    const map = { "GNU.sparse.size": `${2 ** 41}`, "GNU.sparse.map": "0,1" };
    const huge = tarOf(paxOf(map), { name: "huge", content: "x" });
    expect(await world.failure(layers(huge))).to.match(/^ContentTooLarge: /);
  });

  it("fetches no layers that are longer than what may be unpacked of them, as of frames that are skipped", async () => {
    const skipped = Buffer.alloc(2 * 1024 * 1024);
    skipped.writeUInt32LE(0x184d2a50);
    skipped.writeUInt32LE(skipped.length - 8, 4);
    const layer = world.registry.put(Buffer.concat([skipped, zstdCompressSync(two)]), `${oci}+zstd`);
    const image = world.registry.image(layer);
    expect(await world.failure(image, { sizeLimit: "64Ki" })).to.match(/^ContentTooLarge: .* 65536 /);
    expect(world.registry.requests.filter((path) => path.includes("/blobs/"))).to.deep.equal([]);
    world.node.forgetFailures();
    expect(tree(await world.shown(image)), "within the usual limit").to.equal("onef twof");
  });

  it("gives directories, files and links their times, also those before 1970", async () => {
    const old = [paxOf({ mtime: "-1000.5" }), { name: "old" }];
    const path = await world.shown(
      layers(tarOf(directory("d/"), { name: "d/f" }, link("l", "d"), ...old), tarOf({ name: "d/g" })),
    );
    const times = execFileSync("stat", ["-c", "%n %.Y", "d", "d/f", "l", "old"], { cwd: path, encoding: "utf8" });
    expect(times.trim().split("\n")).to.deep.equal([
      ...["d 512.000000000", "d/f 512.000000000", "l 512.000000000", "old -1000.500000000"],
    ]);
  });

  const refused: { readonly [title: string]: Buffer } = {
    "an owner that is none": tarOf(paxOf({ uid: "4294967301" }), { name: "f" }),
    "the owner that chown(2) takes for nobody": tarOf(paxOf({ gid: "4294967295" }), { name: "f" }),
    "a time that no clock has": tarOf(paxOf({ mtime: "1".repeat(400) }), { name: "f" }),
    "a name that is not UTF-8": entryOf({
      name: "caf",
      change: (header) => void header.writeUInt8(0xe9, 3),
    }),
  };
  for (const [title, archive] of Object.entries(refused)) {
    it(`refuses ${title}, for good`, async () => {
      const failure = await world.failure(layers(archive));
      expect(failure).to.match(/^ContentRefused: /);
      const { failure: said } = await world.node.volume(asVolumeName(world.volume));
      expect((said as { errorClass?: string } | undefined)?.errorClass).to.equal("final");
    });
  }
});
