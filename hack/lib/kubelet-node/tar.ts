import { createHash } from "node:crypto";

export interface TarEntry {
  readonly name: string;
  readonly content: Buffer;
  readonly executable?: true;
}

const block = 512;

/** PURE. An archive of plain files, of root's and of 1970 (POSIX ustar). @param entries names of up to 100 bytes */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([
    ...entries.flatMap(({ content, ...entry }) => [header(entry, content.length), padded(content)]),
    Buffer.alloc(2 * block),
  ]);
}

/** PURE. As images name content. */
export function digestOf(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

function header({ name, executable }: Omit<TarEntry, "content">, size: number): Buffer {
  const bytes = Buffer.alloc(block);
  const octal = (value: number, at: number, length: number) =>
    bytes.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  bytes.write(name, 0, 100);
  octal(executable ? 0o755 : 0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  bytes.write("        0", 148, "latin1"); // the sum is of blanks in its own place; then the type, a file
  bytes.write("ustar\x0000", 257, "latin1");
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return bytes;
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((block - (content.length % block)) % block)]);
}
