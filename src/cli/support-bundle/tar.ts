/** One file of an archive. */
export interface TarFile {
  readonly path: string;
  readonly content: Uint8Array;
}

const block = 512;

/**
 * PURE. A POSIX archive (ustar) of plain files, in the order of their paths: the same files make the same bytes. All
 * are the reader's own (0600), of one time, and of nobody by name.
 * @throws RangeError for a path that the format cannot say
 */
export function tarOf(files: readonly TarFile[], seconds: number): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { path, content } of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const padding = new Uint8Array((block - (content.length % block)) % block);
    parts.push(headerOf(path, content.length, seconds), content, padding);
  }
  parts.push(new Uint8Array(2 * block));
  return Buffer.concat(parts);
}

function headerOf(path: string, size: number, seconds: number): Uint8Array {
  const header = Buffer.alloc(block);
  const { prefix, name } = splitPath(path);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, "0")}\0`;
  header.write(name, 0);
  header.write(octal(0o600, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(seconds, 12), 136);
  header.write(" ".repeat(8), 148); // its own sum counts as blanks
  header.write("0", 156);
  header.write("ustar\0" + "00", 257);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)} `, 148);
  return header;
}

/** At a slash, so that each half has its place: 155 bytes and 100. */
function splitPath(path: string): { readonly prefix: string; readonly name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: "", name: path };
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return { prefix, name };
  }
  throw new RangeError(`${path} is too long for an archive`);
}
