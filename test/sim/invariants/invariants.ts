import { type Resource, resource } from "../../../src/api/names.ts";
import type { Change } from "../api/collection.ts";
import type { SimApiServer } from "../api/sim-api-server.ts";
import type { Storage } from "../csi/storage.ts";
import type { Namespace } from "../kernel/mount.ts";
import type { Machine } from "../machine.ts";
import { AgentLostRules } from "./agent-lost-rules.ts";
import { AttachRules } from "./attach-rules.ts";
import { IntentHistory } from "./intent-history.ts";
import { JournalView } from "./journal-view.ts";
import { LeaderRules } from "./leader-rules.ts";
import { MountRules } from "./mount-rules.ts";
import { ReleaseRules } from "./release-rules.ts";
import { SecretRules } from "./secret-rules.ts";
import { StatusRules } from "./status-rules.ts";
import type { Report } from "./violation.ts";

export interface InvariantsDeps {
  readonly report: Report;
  readonly storage: Storage;
  /** Milliseconds of virtual time. */
  now(): number;
  server(): SimApiServer;
  machine(node: string): Machine | undefined;
  /** The mount namespace that the agent of a machine is in now. */
  agentNamespace(machine: Machine): Namespace | undefined;
  /** Nodes that may have something of a CSI volume. */
  nodesThatMayHold(handle: string): readonly string[];
}

/** What must hold after every event of every world. */
export class Invariants {
  readonly journal = new JournalView();
  readonly intents = new IntentHistory();
  readonly report: Report;
  readonly mounts: MountRules;
  readonly statuses: StatusRules;
  readonly secrets: SecretRules;
  readonly attachments: AttachRules;
  readonly #releases: ReleaseRules;
  readonly #leaders: LeaderRules;
  readonly #lost: AgentLostRules;

  constructor({ report, storage, now, server, machine, agentNamespace, nodesThatMayHold }: InvariantsDeps) {
    this.report = report;
    this.mounts = new MountRules({ journal: this.journal, intents: this.intents, report, agentNamespace });
    this.statuses = new StatusRules({ report, machine });
    this.secrets = new SecretRules(report);
    this.attachments = new AttachRules({
      report,
      storage,
      journal: this.journal,
      server,
      machine,
      nodesThatMayHold,
    });
    this.#releases = new ReleaseRules(server, report);
    this.#leaders = new LeaderRules(server, report);
    this.#lost = new AgentLostRules(now, report);
  }

  /** An object was stored. */
  stored(of: Resource, change: Change, actor: string): void {
    if (of !== resource.leases && of !== resource.events) {
      this.#leaders.wrote(`${of.plural} ${change.object.metadata.name}`, actor);
    }
    if (of === resource.leases) this.#lost.leaseStored(change.object.metadata.name);
    if (of === resource.secrets) this.secrets.stored();
    if (of === resource.volumeAttachments) this.attachments.attachmentChanged(change, actor);
    if (of !== resource.intents) return;
    this.attachments.intentChanged(change, actor);
    this.intents.changed(change);
    this.statuses.changed(change);
    this.#lost.intentStored(change);
    this.#releases.changed(change, actor);
  }
}
