import { setTimeout as sleep } from "node:timers/promises";
import { type ApiAccess, createApiClient } from "../../../hack/lib/api-client.ts";

/**
 * What came of a request: `ended`, if its connection did before the whole answer was there; `waiting`, if it was not
 * there in time.
 */
export type Outcome = "answered" | "refused" | "ended" | "waiting";

/** What a GET over a connection of its own comes to within `withinMs` milliseconds; given up then. */
export async function comesTo(access: ApiAccess, path: string, withinMs: number): Promise<Outcome> {
  const client = createApiClient(access);
  const over = new AbortController();
  const asked = client.call("GET", path, { timeoutMs: 2 * withinMs }).then(
    ({ status }): Outcome => (status === 200 ? "answered" : "refused"),
    (): Outcome => "ended",
  );
  const late = sleep<Outcome>(withinMs, "waiting", { signal: over.signal }).catch((): Outcome => "waiting");
  try {
    return await Promise.race([asked, late]);
  } finally {
    over.abort();
    client.close();
  }
}
