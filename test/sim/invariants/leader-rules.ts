import { resource, systemNamespace } from "../../../src/api/names.ts";
import { isJson } from "../api/json.ts";
import type { SimApiServer } from "../api/sim-api-server.ts";
import type { Report } from "./violation.ts";

const leaderLease = "nodevolume-controller";

/** What a controller writes is stored only while its own Lease stands: there is never a second leader. */
export class LeaderRules {
  readonly #server: () => SimApiServer;
  readonly #report: Report;

  constructor(server: () => SimApiServer, report: Report) {
    this.#server = server;
    this.#report = report;
  }

  /** @param actor the process that wrote an intent, a set or a state */
  wrote(what: string, actor: string): void {
    if (!actor.startsWith("controller-")) return;
    const spec = this.#server().get(resource.leases, leaderLease, systemNamespace)?.["spec"];
    const holder = isJson(spec) ? String(spec["holderIdentity"]) : "nobody";
    if (!holder.startsWith(`${actor}_`)) this.#report(`${actor} wrote ${what} while ${holder} leads`);
  }
}
