// "Why is it stuck?" as a page of its own, in one file: hack/lib/why-page.ts puts it together.
import { byId } from "./dom.js";
import { codesOf, createWhy } from "./why-view.js";

/** @type {import("../explain/why/why-table.ts").WhyTable} */
const table = JSON.parse(byId("why-table").textContent ?? "");
const why = createWhy({ load: async () => table, onText: () => undefined, onFail: String });
byId("why-codes").append(...codesOf(table));

/** A reason or a message may stand in the address: why.html#SourceNotFound. */
function open() {
  const [, key = ""] = /^#([A-Za-z-]+)$/.exec(location.hash) ?? [];
  why.put(key);
  if (key !== "") scrollTo(0, 0);
}
addEventListener("hashchange", open);
open();
