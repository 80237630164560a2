import { isJson, type Json } from "../api/json.ts";
import { isEndOfList, type Told } from "./api-actor.ts";

/** What the server itself writes into metadata, or is different each time. */
const ownFields = new Set(["managedFields", "selfLink"]);
const times = new Set(["creationTimestamp", "deletionTimestamp"]);

/** What came of a sequence of requests, in words that are the same for two servers that behave alike. */
export function tell(told: readonly Told[]): string[] {
  const names = new Names(told);
  // Answers first: where one of them differs, watches do too.
  const answers = [...told.entries()].filter(([, { response }]) => response !== undefined);
  const watches = [...told.entries()].filter(([, { watch }]) => watch !== undefined);
  return [...answers, ...watches].flatMap(([index, { what, response, watch }]): string[] => {
    if (response !== undefined) return [`${index} ${what}: ${answer(response.status, response.body, names)}`];
    if (watch === undefined) return [];
    const end = watch.lines.findIndex(isEndOfList);
    const lines = watch.lines
      .filter((line) => line["type"] !== "BOOKMARK" || isEndOfList(line))
      .map((l) => event(l, names));
    // In which order the objects of the beginning come does not matter.
    const ordered = [...lines.slice(0, Math.max(0, end)).sort(), ...lines.slice(Math.max(0, end))];
    const ended =
      typeof watch.ended === "object" ? [`ended: ${answer(watch.ended.status, watch.ended.body, names)}`] : [];
    return [...ordered, ...ended].map((line) => `${index} ${what}: ${line}`);
  });
}

function answer(status: number, body: unknown, names: Names): string {
  if (!isJson(body)) return `${status} ${JSON.stringify(body)}`;
  if (body["kind"] === "Status") return `${status} ${body["reason"] ?? body["status"]}`;
  if (!Array.isArray(body["items"])) return `${status} ${names.text(body)}`;
  const metadata = isJson(body["metadata"]) ? body["metadata"] : {};
  const more = metadata["continue"] ? `, ${metadata["remainingItemCount"] ?? "some"} more` : "";
  const items = body["items"].map((item: Json) => names.text({ ...item, apiVersion: undefined, kind: undefined }));
  return `${status} ${items.join(" ")}${more}`;
}

function event(line: Json, names: Names): string {
  const object = isJson(line["object"]) ? line["object"] : {};
  if (line["type"] === "ERROR") return `ERROR ${object["code"]} ${object["reason"]}`;
  if (line["type"] === "BOOKMARK") return `BOOKMARK ${object["kind"]}`;
  return `${line["type"]} ${names.text(object)}`;
}

/** UIDs get numbers in the order in which they come up, versions in the order of their age. */
class Names {
  readonly #uids = new Map<unknown, number>();
  readonly #versions: readonly number[];

  constructor(told: readonly Told[]) {
    const versions = new Set<number>();
    const note = (object: unknown) => {
      const metadata = isJson(object) && isJson(object["metadata"]) ? object["metadata"] : {};
      const version = Number(metadata["resourceVersion"]);
      if (metadata["uid"] !== undefined && Number.isFinite(version)) versions.add(version);
    };
    for (const { response, watch } of told) {
      const body = response?.body;
      note(body);
      if (isJson(body) && Array.isArray(body["items"])) body["items"].forEach(note);
      for (const line of watch?.lines ?? []) note(line["object"]);
    }
    this.#versions = [...versions].sort((a, b) => a - b);
  }

  text(object: Json): string {
    const metadata = isJson(object["metadata"]) ? object["metadata"] : {};
    const named = Object.entries(metadata).flatMap(([key, value]): [string, unknown][] => {
      if (ownFields.has(key)) return [];
      if (key === "uid") return [[key, this.#uid(value)]];
      if (key === "resourceVersion") return [[key, this.#versions.indexOf(Number(value))]];
      return [[key, times.has(key) ? "T" : value]];
    });
    return JSON.stringify(sorted({ ...object, metadata: Object.fromEntries(named) }));
  }

  #uid(uid: unknown): number {
    const known = this.#uids.get(uid) ?? this.#uids.size + 1;
    this.#uids.set(uid, known);
    return known;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJson(value)) return value;
  // Times of an Event that nobody has set are null on the wire.
  const keys = Object.keys(value)
    .filter((key) => value[key] !== null)
    .sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}
