import type { JsonObject } from "../../../hack/lib/api-client.ts";
import type { SeededRandom } from "../../sim/random.ts";

/** Values that a reader may trip over, whatever it expects. */
const odd: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1, 0.5, 2 ** 31, 2 ** 53, 1e308, "", " ", "0", "a", "-", "..", ".", "/", "//", "../.."],
  ...[
    "/etc",
    "/mnt/nodevolume",
    "/mnt/nodevolume/..",
    "/mnt/nodevolume/../../etc",
    "/mnt/nodevolume/a/./b",
    "/state/x",
  ],
  ...[
    "\u0000",
    "a\nb",
    "\ud800",
    "\ufffd",
    "é",
    "\u202e",
    "a".repeat(64),
    "a".repeat(254),
    "/".repeat(5000),
    "1Gi",
    "-1Gi",
  ],
  ...["ro", "rw,suid", "__proto__", "constructor", "$(id)", "%s", "{{a}}", "2026-01-01T00:00:00Z"],
  ...[[], {}, [[]], [null], { "": "" }, { a: { a: { a: {} } } }],
];
const oddKeys = ["", "__proto__", "constructor", "toString", "length", "a", "path", "name", "readOnly", "source"];
const longestList = 80;

type Holder = { [key: string]: unknown };

/** PURE. `value` with one to four changes in places of it; `others` are what parts of it are replaced by. */
export function mutatedJson(value: unknown, others: readonly JsonObject[], random: SeededRandom): unknown {
  const mutated = structuredClone(value);
  for (let left = random.chance(0.6) ? 1 : 2 + random.below(3); left > 0; left--) change(mutated, others, random);
  return mutated;
}

function change(value: unknown, others: readonly JsonObject[], random: SeededRandom): void {
  const places = placesIn(value);
  if (places.length === 0) return;
  const [holder, key] = random.pick(places);
  const before = holder[key];
  switch (random.below(8)) {
    case 0:
      holder[key] = structuredClone(random.pick(odd));
      return;
    case 1:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      return;
    case 2: {
      const name = random.chance(0.5) ? random.pick(oddKeys) : random.pick(placesIn(random.pick(others)))[1];
      define(holder, name, before);
      return;
    }
    case 3:
      if (Array.isArray(before) && before.length > 0)
        while (before.length < longestList && random.chance(0.9)) before.push(structuredClone(random.pick(before)));
      else holder[key] = [before, structuredClone(before)];
      return;
    case 4:
      holder[key] = typeof before === "number" ? random.pick([before + 1, before - 1, before * 10, -before]) : before;
      if (typeof before === "string") holder[key] = mutatedText(before, random);
      return;
    case 5: {
      // What another object has in a place of that name.
      const elsewhere = placesIn(random.pick(others)).filter(([, name]) => name === key);
      const [from, name] = elsewhere.length === 0 ? random.pick(placesIn(random.pick(others))) : random.pick(elsewhere);
      holder[key] = structuredClone(from[name]);
      return;
    }
    case 6: {
      const [from, name] = random.pick(places);
      holder[key] = structuredClone(from[name]);
      return;
    }
    default:
      if (typeof before === "object" && before !== null && !Array.isArray(before))
        define(before as Holder, random.pick(oddKeys), structuredClone(random.pick(odd)));
      else holder[key] = structuredClone(random.pick(odd));
  }
}

/** An own property, whatever its name means to an assignment; a list keeps to its elements. */
function define(holder: Holder, name: string, value: unknown): void {
  if (Array.isArray(holder)) holder.push(value);
  else Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}

function mutatedText(text: string, random: SeededRandom): string {
  const at = random.below(text.length + 1);
  const inserted = random.pick(["/", "..", "/../", ".", ",", "=", " ", "\n", "\u0000", "é", "A", "-", "0", text]);
  const cut = random.below(3);
  return text.slice(0, at) + (random.chance(0.7) ? inserted : "") + text.slice(at + cut);
}

/** Every place in a value that something stands in: what holds it, and by which key. */
function placesIn(value: unknown, found: [Holder, string][] = []): [Holder, string][] {
  if (typeof value !== "object" || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push([value as Holder, key]);
    placesIn((value as Holder)[key], found);
  }
  return found;
}
