// Loaded before the simulator (node --import): gives source files to it with texts replaced. Nothing is written.
import { registerHooks } from "node:module";
import type { Edit } from "./mutation.ts";

const edits = JSON.parse(process.env["NODEVOLUME_SIM_EDITS"] ?? "[]") as readonly Edit[];

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const own = edits.filter(({ file }) => url.endsWith(`/${file}`));
    if (own.length === 0) return loaded;
    return {
      ...loaded,
      source: own.reduce((source, { from, to }) => source.replace(from, () => to), String(loaded.source)),
    };
  },
});
