import { isDeepStrictEqual } from "node:util";
import { Choice, isList, isMap, isPlain, type Plain, type Tree, When } from "./tree.ts";

/**
 * PURE. A tree that is what it was, and under a condition another object: of the two, only what differs depends on it.
 * @param tree of `base`, with what other conditions have changed of it
 * @param variant what `base` shall be under the condition
 * @throws Error if the two differ in a way that does not go together with other conditions
 */
export function vary(tree: Tree, base: Plain, variant: Plain, condition: string): Tree {
  if (isDeepStrictEqual(base, variant)) return tree;
  if (isMap(tree) && isMap(base) && isMap(variant)) {
    const names = [...new Set([...Object.keys(tree), ...Object.keys(variant)])];
    return Object.fromEntries(
      names.map((name) => {
        const [now, was, shall] = [tree[name], base[name], variant[name]];
        if (was === undefined && now === undefined) return [name, new When(condition, shall as Plain)];
        if (was === undefined || now === undefined) return [name, once(now, shall, condition, name)];
        if (shall === undefined) return [name, new When(`not (${condition})`, now)];
        return [name, vary(now, was, shall, condition)];
      }),
    );
  }
  if (isList(tree) && isList(base) && isList(variant) && variant.length >= base.length) {
    // What conditions add is behind what the base has.
    const own = base.map((was, i) => vary(tree[i] as Tree, was, variant[i] as Plain, condition));
    const added = variant.slice(base.length).map((item) => new When(condition, item));
    return [...own, ...tree.slice(base.length), ...added];
  }
  if (!isPlain(tree)) throw new Error(`${JSON.stringify(base)} is changed under two conditions`);
  return new Choice(condition, variant, tree);
}

/** What only another condition has. @throws Error if this one wants it, too */
function once(now: Tree | undefined, shall: Plain | undefined, condition: string, name: string): Tree {
  if (shall === undefined && now !== undefined) return now;
  throw new Error(`${name} is there under two conditions, the second one ${condition}`);
}
