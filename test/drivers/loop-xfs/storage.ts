// What outlives every driver process: volumes, nodes, and which volume is published to which node. A folder; nothing is
// kept in memory.
import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** A file system of less can't be made. */
export const smallest = 16 * 1024 * 1024;

export interface StoredVolume {
  readonly id: string;
  /** As the CO named it. */
  readonly name: string;
  readonly block: boolean;
}

/** That a volume may be used on a node: what ControllerPublishVolume leaves. */
export interface Attachment {
  readonly nodeID: string;
  readonly readOnly: boolean;
  /** Changes with each attachment: a publish context that belongs to an earlier one is noticed. */
  readonly attachment: string;
}

export class Storage {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
    for (const folder of ["volumes", "nodes"]) mkdirSync(join(root, folder), { recursive: true });
  }

  get recordFile(): string {
    return join(this.#root, "record.jsonl");
  }

  /** The same name gives the same volume, whoever asks and how often. */
  static idOf(name: string): string {
    return `vol-${hash(name)}`;
  }

  volumes(): string[] {
    return readdirSync(join(this.#root, "volumes"))
      .filter((id) => this.volume(id) !== undefined)
      .sort();
  }

  volume(id: string): StoredVolume | undefined {
    return isName(id) ? readJSON(this.#file(id, "volume.json")) : undefined;
  }

  /** Bytes. */
  size(id: string): number {
    return statSync(this.#file(id, "backing")).size;
  }

  create(volume: StoredVolume, bytes: number): void {
    mkdirSync(this.#file(volume.id, "attached"), { recursive: true });
    this.resize(volume.id, bytes);
    writeDurably(this.#file(volume.id, "volume.json"), volume); // last: with it the volume is there
  }

  resize(id: string, bytes: number): void {
    const fd = openSync(this.#file(id, "backing"), "a", 0o600);
    ftruncateSync(fd, bytes);
    fsyncSync(fd);
    closeSync(fd);
  }

  remove(id: string): void {
    rmSync(this.#file(id, "volume.json"), { force: true });
    for (const node of readdirSync(join(this.#root, "nodes")))
      rmSync(join(this.#root, "nodes", node, id), { force: true });
    rmSync(join(this.#root, "volumes", id), { recursive: true, force: true });
  }

  /** Bytes that the folder has left. */
  free(): number {
    const { bavail, bsize } = statfsSync(this.#root);
    return bavail * bsize;
  }

  addNode(nodeID: string): void {
    mkdirSync(join(this.#root, "nodes", hash(nodeID)), { recursive: true });
  }

  hasNode(nodeID: string): boolean {
    return existsSync(join(this.#root, "nodes", hash(nodeID)));
  }

  attachments(id: string): Attachment[] {
    const folder = this.#file(id, "attached");
    if (!existsSync(folder)) return [];
    return readdirSync(folder).flatMap((name) => readJSON<Attachment>(join(folder, name)) ?? []);
  }

  attach(id: string, nodeID: string, readOnly: boolean): Attachment {
    const made = { nodeID, readOnly, attachment: randomBytes(8).toString("hex") };
    writeDurably(this.#file(id, "attached", `${hash(nodeID)}.json`), made);
    return made;
  }

  detach(id: string, nodeID: string): void {
    rmSync(this.#file(id, "attached", `${hash(nodeID)}.json`), { force: true });
  }

  /** The volume's bytes under a name of the node's own, so that the kernel's loop devices tell whose they are. */
  pathOn(nodeID: string, id: string): string {
    return join(this.#root, "nodes", hash(nodeID), id);
  }

  linkOn(nodeID: string, id: string): string {
    const path = this.pathOn(nodeID, id);
    if (!existsSync(path)) linkSync(this.#file(id, "backing"), path);
    return path;
  }

  /** Whether a file system is being made on it, or was when the driver was killed. */
  isFormatting(id: string): boolean {
    return existsSync(this.#file(id, "formatting"));
  }

  setFormatting(id: string, is: boolean): void {
    if (is) writeDurably(this.#file(id, "formatting"), {});
    else rmSync(this.#file(id, "formatting"), { force: true });
  }

  #file(id: string, ...rest: string[]): string {
    return join(this.#root, "volumes", id, ...rest);
  }
}

/** An id comes from the CO: no part of a path that we did not name so. */
function isName(id: string): boolean {
  return /^vol-[0-9a-f]{20}$/.test(id);
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 20);
}

function readJSON<T>(path: string): T | undefined {
  if (!existsSync(path)) return undefined;
  return path.endsWith(".json") ? (JSON.parse(readFileSync(path, "utf8")) as T) : undefined;
}

function writeDurably(path: string, content: object): void {
  const fd = openSync(`${path}.new`, "w", 0o600);
  writeFileSync(fd, JSON.stringify(content));
  fsyncSync(fd);
  closeSync(fd);
  renameSync(`${path}.new`, path);
}
