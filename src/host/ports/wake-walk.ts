import { unreachable } from "../../errors.ts";
import type { WatchedPath, WatchUnavailable } from "./wakeups.ts";

/** What stands under a name in a directory. */
export type Found<D> =
  | { readonly kind: "missing" }
  /** `identity` tells it from another that may stand there later. */
  | { readonly kind: "directory"; readonly directory: D; readonly identity: string }
  | { readonly kind: "file"; readonly file: D; readonly identity: string }
  | { readonly kind: "link"; readonly to: string; readonly identity: string }
  /** Nothing is known of it, and it is not asked. */
  | { readonly kind: "unavailable"; readonly why: WatchUnavailable };

/** The file system that a walk goes through. */
export interface Ground<D> {
  /** Where the walk begins, and what `..` and absolute links stay within. */
  root(): Found<D>;
  /** Listens for changes of `name` in a directory from now on; only then looks what stands there. */
  look(directory: D, name: string): Found<D>;
  /** Listens for writers of the file at the end. */
  listenToFile(file: D): void;
  /** The walk has gone up from a directory, and does not come back to it. */
  leave(directory: D): void;
}

/** How a walk ended. Two walks with equal ends would end alike for whoever looks the path up. */
export interface WalkEnd {
  readonly end: string;
  readonly unavailable?: WatchUnavailable;
}

/** As many links as the kernel follows (path_resolution(7)). */
const mostLinks = 40;
/** Names looked up in one walk: 40 links of 4,095 bytes each could name 80,000. */
const mostSteps = 256;

/**
 * Walks a path as a lookup would, and watches each directory for the next name before it looks that name up. So every
 * later change of the lookup's result raises an event, and none falls in between.
 */
export function walkListening<D>({ path, links, written }: WatchedPath, ground: Ground<D>): WalkEnd {
  const root = ground.root();
  if (root.kind === "unavailable") return { end: "unavailable", unavailable: root.why };
  if (root.kind !== "directory") return { end: "no root" };
  const above: D[] = [root.directory];
  const goUp = (depth: number) => {
    for (const directory of above.splice(depth)) ground.leave(directory);
  };
  let end = root.identity;
  let followed = 0;
  let steps = 0;
  const left = segmentsOf(path);
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    if (name === "..") {
      goUp(Math.max(1, above.length - 1));
      continue;
    }
    if (++steps > mostSteps) return { end: "too long", unavailable: "limit" };
    const found = ground.look(above.at(-1) ?? root.directory, name);
    switch (found.kind) {
      case "missing":
        return { end: "missing" };
      case "unavailable":
        return { end: "unavailable", unavailable: found.why };
      case "directory":
        above.push(found.directory);
        end = found.identity;
        break;
      case "link":
        if (links === "refuse" || ++followed > mostLinks) return { end: `link ${found.identity}` };
        if (found.to.startsWith("/")) goUp(1);
        left.unshift(...segmentsOf(found.to));
        break;
      case "file":
        if (left.length > 0) return { end: `no directory ${found.identity}` };
        if (written === true) ground.listenToFile(found.file);
        return { end: `file ${found.identity}` };
      default:
        return unreachable(found);
    }
  }
  return { end: `directory ${end}` };
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}
