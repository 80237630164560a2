import { until } from "../../../hack/lib/until.ts";
import type { Resource } from "../../../src/api/names.ts";
import { resource as resources } from "../../../src/api/names.ts";
import type { Transport } from "../../../src/kube/client/transport.ts";
import { Admission } from "../api/admission.ts";
import { isJson, type Json } from "../api/json.ts";
import { SimApiServer } from "../api/sim-api-server.ts";
import { Scheduler } from "../scheduler.ts";
import type { Sightings } from "../sightings.ts";
import { ApiActor, type OpenWatch } from "./api-actor.ts";
import type { ApiOperation } from "./api-operations.ts";
import { tell } from "./api-tell.ts";

const patienceMs = 10_000;

export interface ApiPair {
  readonly real: Transport;
  /** Spec of an object that every field selector of a resource matches. */
  markerSpec(of: Resource): Json | undefined;
  readonly sightings: Sightings;
}

/** The simulated server without a network: every answer comes at once. */
export function simTransport(): { readonly transport: Transport; readonly server: SimApiServer } {
  const server = new SimApiServer({ scheduler: new Scheduler(), admission: new Admission(), onChange: () => {} });
  const transport: Transport = {
    request: async (request) => server.handle(request, "differential"),
    stream: (request, handlers) =>
      server.watch(request, {
        opened: () => handlers.onOpen?.(),
        lines: (lines) => {
          for (const line of lines) handlers.onObject(line);
        },
        end: (how) => handlers.onEnd(how),
      }),
  };
  return { transport, server };
}

/** Makes the same requests to both servers. @returns the first lines that differ; undefined if none does */
export async function apiDifference(
  pair: ApiPair,
  sequence: string,
  operations: readonly ApiOperation[],
): Promise<string | undefined> {
  const check = (what: string, isDone: () => boolean) => until(what, patienceMs, isDone);
  const real = new ApiActor(pair.real, sequence, check);
  const simulated = new ApiActor(simTransport().transport, sequence, check);
  const touched = Object.values(resources).filter((one) => operations.some(({ resource }) => resource === one));
  try {
    for (const actor of [real, simulated]) await actor.begin(touched);
    for (const operation of operations) {
      for (const actor of [simulated, real]) await actor.carryOut(operation);
    }
    for (const resource of touched) {
      if (!simulated.watches.some((watch) => watch.resource === resource)) continue;
      for (const actor of [simulated, real]) await actor.mark(resource, pair.markerSpec(resource));
    }
    for (const [index, watch] of simulated.watches.entries()) {
      const beside = real.watches[index];
      const last = nameOf(watch.lines.at(-1));
      if (beside === undefined || watch.ended !== undefined) continue;
      await check(
        `${last} in a watch`,
        () => beside.ended !== undefined || beside.lines.some((l) => nameOf(l) === last),
      );
    }
    const lines = { real: tell(real.told), simulated: tell(simulated.told) };
    for (const line of lines.real) pair.sightings.add(...sightingOf(line));
    return firstDifference(lines.real, lines.simulated);
  } finally {
    for (const watch of [...real.watches, ...simulated.watches] as OpenWatch[]) watch.close();
    for (const resource of touched) await real.cleanUp(resource);
  }
}

function firstDifference(real: readonly string[], simulated: readonly string[]): string | undefined {
  const index = real.findIndex((line, at) => line !== simulated[at]);
  const at = index === -1 && simulated.length > real.length ? real.length : index;
  if (at === -1) return undefined;
  return `real      ${real[at] ?? "nothing"}\nsimulated ${simulated[at] ?? "nothing"}`;
}

/** "12 patch: 409 Conflict" → patch, 409 Conflict. */
function sightingOf(line: string): [string, string] {
  const [, what = "", outcome = ""] = /^\d+ ([^:]+): (\S+(?: [A-Za-z]+(?= |$))?)/.exec(line) ?? [];
  return [what, outcome];
}

function nameOf(line: Json | undefined): string {
  const object = isJson(line?.["object"]) ? line["object"] : {};
  const metadata = isJson(object["metadata"]) ? object["metadata"] : {};
  return String(metadata["name"] ?? "");
}
