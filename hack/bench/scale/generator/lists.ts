import { apiVersionOf } from "../../../../src/kube/client/resource-path.ts";
import type { Served } from "./cluster.ts";
import type { Selector } from "./selectors.ts";

interface ListRequest {
  readonly served: Served;
  readonly namespace: string | undefined;
  readonly selector: Selector | undefined;
  /** Objects in one page; 0: all. */
  readonly limit: number;
  readonly token: string | undefined;
}

interface Reading {
  readonly resourceVersion: number;
  readonly rest: Iterator<string>;
  readonly next: string;
}

/** Answers lists. The pages of one are of the same moment. */
export interface Lists {
  /** @returns JSON; undefined: the continue token is not known any more (410) */
  page(request: ListRequest): string | undefined;
}

/** Lists that were begun and not read to the end are forgotten after so many others. */
const longestOpen = 100;

export function createLists(): Lists {
  /** By continue token. Each is for one use: who asks twice has to begin again. */
  const open = new Map<string, Reading>();
  let tokens = 0;
  return {
    page(request) {
      const { served, limit, token } = request;
      const reading = token === undefined ? begin(request) : open.get(token);
      if (reading === undefined) return undefined;
      if (token !== undefined) open.delete(token);
      const items: string[] = [];
      let { next } = reading;
      while (next !== "" && (limit === 0 || items.length < limit)) {
        items.push(next);
        next = (reading.rest.next().value as string | undefined) ?? "";
      }
      const metadata: { [key: string]: string } = { resourceVersion: String(reading.resourceVersion) };
      if (next !== "") {
        tokens += 1;
        metadata["continue"] = `page-${tokens}`;
        open.set(`page-${tokens}`, { ...reading, next });
        if (open.size > longestOpen) open.delete(open.keys().next().value ?? "");
      }
      const { resource } = served;
      const head = JSON.stringify({ kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata });
      return `${head.slice(0, -1)},"items":[${items.join(",")}]}`;
    },
  };
}

function begin({ served, namespace, selector }: ListRequest): Reading {
  const snapshot = served.collection.snapshot(namespace);
  const all = selector?.generated(served.collection.base);
  function* shown() {
    for (const { text, generated } of snapshot.objects()) {
      if (selector === undefined || (generated && all !== undefined ? all : selector.matches(JSON.parse(text))))
        yield text;
    }
  }
  const rest = shown();
  const first = rest.next();
  return { resourceVersion: snapshot.resourceVersion, rest, next: first.done ? "" : first.value };
}
