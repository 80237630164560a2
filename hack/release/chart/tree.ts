// An object whose parts depend on the values of a chart: JSON, with nodes among it that become Go templates.

export type Tree = string | number | boolean | null | Special | readonly Tree[] | { readonly [key: string]: Tree };
export type TreeMap = { readonly [key: string]: Tree };
/** JSON as kustomize has made it. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };

/** There only under a condition: a field of a map, or an item of a list. */
export class When {
  readonly condition: string;
  readonly tree: Tree;
  constructor(condition: string, tree: Tree) {
    this.condition = condition;
    this.tree = tree;
  }
}

/** One value under a condition, and another one otherwise. */
export class Choice {
  readonly condition: string;
  readonly tree: Tree;
  readonly otherwise: Tree;
  constructor(condition: string, tree: Tree, otherwise: Tree) {
    this.condition = condition;
    this.tree = tree;
    this.otherwise = otherwise;
  }
}

/** A scalar that a pipeline makes. */
export class Scalar {
  readonly pipeline: string;
  constructor(pipeline: string) {
    this.pipeline = pipeline;
  }
}

/** A map or list that a pipeline makes. */
export class Block {
  readonly pipeline: string;
  constructor(pipeline: string) {
    this.pipeline = pipeline;
  }
}

/** Items of a list, one for each of a JSON array that a pipeline makes: lines of an item's map with $i and $item. */
export class Each {
  readonly pipeline: string;
  readonly lines: readonly string[];
  constructor(pipeline: string, lines: readonly string[]) {
    this.pipeline = pipeline;
    this.lines = lines;
  }
}

type Special = When | Choice | Scalar | Block | Each;

function isSpecial(tree: Tree): tree is Special {
  return [When, Choice, Scalar, Block, Each].some((kind) => tree instanceof kind);
}

export function isList(tree: Tree): tree is readonly Tree[] {
  return Array.isArray(tree);
}

export function isMap(tree: Tree): tree is TreeMap {
  return typeof tree === "object" && tree !== null && !isList(tree) && !isSpecial(tree);
}

export function isPlain(tree: Tree): tree is Plain {
  if (isSpecial(tree)) return false;
  if (isList(tree)) return tree.every(isPlain);
  return !isMap(tree) || Object.values(tree).every(isPlain);
}
