// Loaded before the tests of a law (node --import): gives one source file to them with one text replaced.
import { registerHooks } from "node:module";
import type { Mutant } from "./mutant.ts";

const mutant = JSON.parse(process.env["NODEVOLUME_LAWS_MUTANT"] ?? "{}") as Mutant;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(`/${mutant.file}`)) return loaded;
    return { ...loaded, source: String(loaded.source).replace(mutant.from, () => mutant.to) };
  },
});
