import { ancestorsOf } from "../../api/values/path.ts";
import type { Conflict } from "../model/node-input.ts";
import { mountPaths, type SetShare, sameSettings } from "../model/set-share.ts";
import type { IntentName } from "../model/volume-identity.ts";
import { compareText } from "../util/canonical-json.ts";

/** What one set claims on one node. Pure. */
export interface PathClaim {
  readonly set: string;
  /** What existing intents carry for it. */
  readonly found: readonly SetShare[];
  /** What its spec asks for; of a set that cannot be understood, what it has. */
  readonly wanted: readonly SetShare[];
}

/** What the other claims on the node mean for one set. */
export interface ConflictResult {
  /** Both sets of each are to be told. */
  readonly conflicts: readonly Conflict[];
  /** Whether the set keeps what it has and gets nothing new because of them. */
  readonly held: boolean;
  /** A set that no longer wants a path still has it: this one must wait, but nobody needs to change anything. */
  readonly waitsFor: string | undefined;
}

/** One of two sets that are in each other's way: whether it has what both want, and by which path, if it is one. */
interface Side {
  readonly set: string;
  readonly has: boolean;
  readonly path?: string;
}

type MutableConflictResult = { conflicts: Conflict[]; held: boolean; waitsFor: string | undefined };

/**
 * Resolves conflicts between the sets of one node. Two sets conflict if they request the same path, if one requests a
 * path beneath the other's, or if they request the same volume with different settings. The set that has the path or
 * volume keeps it and is updated; the other gets nothing new. If neither or both have it, neither gets anything new.
 */
export function resolveConflicts(claims: readonly PathClaim[]): Map<string, ConflictResult> {
  const results = new Map<string, MutableConflictResult>(
    claims.map(({ set }) => [set, { conflicts: [], held: false, waitsFor: undefined }]),
  );
  const bySet = new Map(claims.map((claim) => [claim.set, claim]));

  const clash = (a: Side, b: Side) => {
    for (const [me, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const result = results.get(me.set);
      if (result === undefined) continue;
      const paths = { own: me.path ?? "", other: other.path ?? "" };
      result.conflicts.push({ with: other.set, ...(me.path === undefined ? { over: "settings" } : { paths }) });
      result.held ||= !me.has || other.has;
    }
  };

  for (const [a, b, aPath, bPath] of overlaps(claims.flatMap(wantedPaths))) {
    const [claimA, claimB] = [bySet.get(a), bySet.get(b)];
    if (claimA === undefined || claimB === undefined) continue;
    clash({ set: a, has: has(claimA, aPath), path: aPath }, { set: b, has: has(claimB, bPath), path: bPath });
  }

  const requests = claims.flatMap((claim) => claim.wanted.map((share) => ({ claim, share })));
  for (const [intentName, sharers] of Map.groupBy(requests, ({ share }) => share.intentName)) {
    const side = ({ claim }: (typeof requests)[number]): Side => ({ set: claim.set, has: holds(claim, intentName) });
    for (const [i, a] of sharers.entries()) {
      for (const b of sharers.slice(i + 1)) {
        if (sameSettings(a.share.settings, b.share.settings)) continue;
        clash(side(a), side(b));
      }
    }
  }

  for (const [wanter, holder] of overlaps(claims.flatMap(newPaths), claims.flatMap(leftPaths))) {
    const result = results.get(wanter);
    // The first by name, so that the answer does not depend on the order of the claims.
    if (result !== undefined && (result.waitsFor ?? holder) >= holder) result.waitsFor = holder;
  }
  // Sets that exchange their paths would wait for each other for ever: somebody must be told.
  for (const [set, result] of results) {
    if (result.waitsFor !== undefined && waitsForItself(set, results)) {
      result.conflicts.push({ with: result.waitsFor, over: "exchange" });
      result.held = true;
    }
  }

  for (const result of results.values()) {
    result.conflicts.sort((a, b) => compareText(a.with, b.with) || compareText(pathOf(a), pathOf(b)));
  }
  return results;
}

/** The deeper of the two. */
function pathOf({ paths }: Conflict): string {
  if (paths === undefined) return "";
  return paths.own.length < paths.other.length ? paths.other : paths.own;
}

function waitsForItself(set: string, results: ReadonlyMap<string, ConflictResult>): boolean {
  let next = results.get(set)?.waitsFor;
  for (let steps = 0; next !== undefined && steps < results.size; steps += 1) {
    if (next === set) return true;
    next = results.get(next)?.waitsFor;
  }
  return false;
}

type OwnedPath = { readonly set: string; readonly path: string };

function wantedPaths({ set, wanted }: PathClaim): OwnedPath[] {
  return wanted.flatMap((share) => mountPaths(share.mounts)).map((path) => ({ set, path }));
}

/** Wanted paths that the set does not have yet. */
function newPaths(claim: PathClaim): OwnedPath[] {
  return wantedPaths(claim).filter(({ path }) => !has(claim, path));
}

/** Paths that the set still has and no longer wants. */
function leftPaths(claim: PathClaim): OwnedPath[] {
  const wanted = new Set(wantedPaths(claim).map(({ path }) => path));
  const found = claim.found.flatMap((share) => mountPaths(share.mounts));
  return found.filter((path) => !wanted.has(path)).map((path) => ({ set: claim.set, path }));
}

function has(claim: PathClaim, path: string): boolean {
  return claim.found.some((share) => share.mounts.some((mount) => mount.path === path));
}

function holds({ found }: PathClaim, intentName: IntentName): boolean {
  return found.some((share) => share.intentName === intentName);
}

/**
 * Pairs of paths of different sets that are equal or nested: within `paths`, or between `paths` and `others`. Each path
 * is looked for among the ancestors of each, so the work grows with the depth of paths and not with their number
 * squared.
 */
function overlaps(
  paths: readonly OwnedPath[],
  others?: readonly OwnedPath[],
): [a: string, b: string, aPath: string, bPath: string][] {
  const found: [string, string, string, string][] = [];
  const index = Map.groupBy(others ?? paths, ({ path }) => path);
  for (const { set, path } of paths) {
    for (const ancestor of [path, ...ancestorsOf(path)]) {
      for (const other of index.get(ancestor) ?? []) {
        if (other.set === set) continue;
        // Within one list, two equal paths meet twice: once is enough.
        if (others === undefined && ancestor === path && set > other.set) continue;
        found.push([set, other.set, path, ancestor]);
      }
    }
  }
  if (others === undefined) return found;
  const mine = Map.groupBy(paths, ({ path }) => path);
  for (const other of others) {
    for (const ancestor of ancestorsOf(other.path)) {
      for (const { set, path } of mine.get(ancestor) ?? []) {
        if (set !== other.set) found.push([set, other.set, path, other.path]);
      }
    }
  }
  return found;
}
