import { type DirectoryEntry, errno, type FuseAttributes } from "./protocol.ts";

const directory = 0o040000;
const file = 0o100000;

interface Node extends FuseAttributes {
  readonly children?: Map<string, Node>;
  readonly content?: Buffer;
}

/**
 * The tree that the test server shows: `data/a`, `data/b` and `file`, all small; directories and empty files can be
 * made.
 */
export class FuseTree {
  readonly #nodes = new Map<bigint, Node>();
  #last = 0n;

  constructor() {
    const root = this.#add(directory | 0o755);
    const data = this.#add(directory | 0o755);
    root.children?.set("data", data);
    for (const name of ["a", "b"]) data.children?.set(name, this.#add(file | 0o644, Buffer.from(`this is ${name}\n`)));
    root.children?.set("file", this.#add(file | 0o755, Buffer.from("this is a file\n")));
  }

  attributes(id: bigint): FuseAttributes | undefined {
    return this.#nodes.get(id);
  }

  lookup(parent: bigint, name: string): FuseAttributes | undefined {
    return this.#nodes.get(parent)?.children?.get(name);
  }

  read(id: bigint, offset: number, size: number): Buffer {
    return this.#nodes.get(id)?.content?.subarray(offset, offset + size) ?? Buffer.alloc(0);
  }

  entries(id: bigint): DirectoryEntry[] {
    const children = this.#nodes.get(id)?.children ?? new Map<string, Node>();
    const dots = [".", ".."].map((name) => ({ name, node: id, mode: directory }));
    return [...dots, ...[...children].map(([name, { node, mode }]) => ({ name, node, mode }))];
  }

  /** @returns what was made, or the number of an error */
  make(parent: bigint, name: string, kind: "directory" | "file"): FuseAttributes | number {
    const children = this.#nodes.get(parent)?.children;
    if (children === undefined) return errno.ENOTDIR;
    if (children.has(name)) return errno.EEXIST;
    const made = kind === "directory" ? this.#add(directory | 0o755) : this.#add(file | 0o644, Buffer.alloc(0));
    children.set(name, made);
    return made;
  }

  /** @returns the number of an error; 0 if there is none */
  remove(parent: bigint, name: string): number {
    const children = this.#nodes.get(parent)?.children;
    const node = children?.get(name);
    if (children === undefined || node === undefined) return errno.ENOENT;
    if (node.children !== undefined && node.children.size > 0) return errno.ENOTEMPTY;
    children.delete(name);
    return 0;
  }

  #add(mode: number, content?: Buffer): Node {
    const node = ++this.#last;
    const made: Node = { node, mode, size: content?.length ?? 0, ...(content ? { content } : { children: new Map() }) };
    this.#nodes.set(node, made);
    return made;
  }
}
