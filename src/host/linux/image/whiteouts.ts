import { namesIn } from "../path/held-tree.ts";
import type { Descriptor } from "../syscall/descriptor.ts";
import { refused } from "./image-path.ts";
import { type ImageTree, inodeOf, statOf } from "./image-tree.ts";

const prefix = ".wh.";
const opaque = ".wh..wh..opq";

/** PURE. Whether a name stands for the removal of a file of a lower layer (OCI image-spec, `.wh.`). */
export const isWhiteout = (name: string) => name.startsWith(prefix);

/**
 * Takes away what the layers beneath have where a whiteout stands, or all that they have in the directory of an opaque
 * one. What its own layer has stays, whether it comes before or after (image-spec, layer.md); a directory that it only
 * implies keeps its owner and mode then, as in umoci.
 */
export function applyWhiteout(tree: ImageTree, segments: readonly string[], name: string): void {
  const hidden = name.slice(prefix.length);
  if (["", ".", ".."].includes(hidden)) throw refused(name, "takes nothing away");
  const parent = tree.openIfThere(segments);
  if (parent === undefined) return;
  using _parent = parent;
  if (name === opaque) {
    clear(tree, parent);
    return;
  }
  if (!removeOfBeneath(tree, parent, hidden)) return;
  using directory = tree.step(parent, hidden);
  clear(tree, directory);
}

/**
 * Also in directories in it that the layer writes in, too. They may be deeper than files can be open: one is at a time.
 */
function clear(tree: ImageTree, directory: Descriptor): void {
  let current = tree.step(directory, ".");
  const left = [clearOne(tree, current)];
  for (let names = left.at(-1); names !== undefined; names = left.at(-1)) {
    using from = current;
    const name = names.pop();
    if (name === undefined) {
      left.pop();
      if (left.length === 0) return;
      current = tree.step(from, "..");
    } else {
      current = tree.step(from, name);
      left.push(clearOne(tree, current));
    }
  }
}

/** Once for each directory of a layer. @returns directories in it that the layer writes in, too */
function clearOne(tree: ImageTree, directory: Descriptor): string[] {
  const inode = inodeOf(directory);
  if (tree.layer.owns(inode)) return [];
  const left = namesIn(directory).filter((name) => removeOfBeneath(tree, directory, name));
  tree.layer.own(inode);
  return left;
}

/** @returns whether it is a directory that the layer writes in, and stays */
function removeOfBeneath(tree: ImageTree, parent: Descriptor, name: string): boolean {
  const there = statOf(parent, name);
  if (there?.isDirectory() === true && tree.layer.hasEntered(there.ino)) return true;
  if (there !== undefined && !tree.layer.has(inodeOf(parent), name)) tree.remove(parent, name);
  return false;
}
