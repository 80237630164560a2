// What is unpacked of an image's layers: by us, and by umoci, which stands for Go's archive/tar and the image
// specification.
import { execFileSync } from "node:child_process";
import { mkdirSync, openSync, readFileSync } from "node:fs";
import { decompressed } from "../../../src/host/linux/image/decompressed.ts";
import { LayerWriter } from "../../../src/host/linux/image/layer-writer.ts";
import { readTar } from "../../../src/host/linux/image/tar/tar.ts";
import { ByteStream } from "../../../src/host/linux/syscall/byte-stream.ts";
import { Descriptor } from "../../../src/host/linux/syscall/descriptor.ts";
import { loadLibc } from "../../../src/host/linux/syscall/libc.ts";
import { loadSandboxCalls } from "../../../src/host/linux/syscall/sandbox-calls.ts";

/** Unpacks layers as the agent does, into a new directory. */
export async function unpackLayers(at: string, archives: readonly Buffer[]): Promise<void> {
  mkdirSync(at);
  using root = new Descriptor(openSync(at, "r"));
  const writer = new LayerWriter(loadLibc(), loadSandboxCalls(), root, () => {});
  const umask = process.umask(0o022);
  try {
    for (const bytes of archives) {
      const tar = new ByteStream(decompressed(oneOf(bytes)));
      await writer.layer(() => readTar(tar, (one, read) => writer.write(one, read)));
    }
  } finally {
    process.umask(umask);
  }
}

/**
 * Everything that is kept of each file; names and content as latin1, whatever bytes they are. Directories that no layer
 * names have the time at which they were made.
 */
export function filesIn(at: string): readonly string[] {
  const format = "%P\\t%y %m %U:%G %n %l\\t%T@\\n";
  const found = execFileSync("find", [at, "-mindepth", "1", "-printf", format], { encoding: "latin1" });
  return found
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const [of = "", attributes = "", time = ""] = line.split("\t");
      const [type] = attributes;
      const links = type === "d" ? attributes.replace(/^(\S+ \S+ \S+) \S+/, "$1") : attributes;
      const content = type === "f" ? readFileSync(Buffer.from(`${at}/${of}`, "latin1"), "latin1") : "";
      return JSON.stringify([of, links, Number(time) > madeSince ? "now" : time, content]);
    })
    .sort();
}

/** No time that an image gives is as late. */
const madeSince = 1_500_000_000;

/** umoci does not keep the time of a directory in which it makes one that no layer names. */
export function likeTheirs(ours: string, theirs = ""): string {
  const [of] = JSON.parse(ours);
  return /"d .*"now",""]$/.test(theirs) && JSON.parse(theirs)[0] === of
    ? ours.replace(/"[-0-9.]+",""]$/, '"now",""]')
    : ours;
}

async function* oneOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
