import { cpus } from "node:os";
import { requestToken } from "../../../lib/control-plane/identities.ts";
import type { ControlPlane } from "../../../lib/control-plane/start.ts";
import type { Way } from "../agents/agent.ts";
import { type AgentIdentity, createFleet } from "../agents/fleet.ts";
import { named, serverCounts } from "../agents/server-metrics.ts";
import type { Requests } from "../figures.ts";
import { type Names, uidOf } from "../generator/shape.ts";
import { atMost } from "./at-most.ts";

/** An agent for each node, with watches and a Lease of its own, in place of one stand-in for all. */
export interface ManyAgents {
  /** Statuses that they have written, by state. */
  said(): { readonly [state: string]: number };
  /** Requests for what is ours, by the server's own counts of a second ago or less. */
  requests(): Promise<Requests>;
  stop(): Promise<void>;
}

export interface ManyAgentsDeps {
  readonly plane: ControlPlane;
  readonly names: Names;
  readonly way: Way;
  readonly report: (line: string) => void;
}

/** Agents that are started a second, and tokens that are asked for at a time. */
const perSecond = 100;
const atOnce = 16;
/** The agents of a cluster were not started in the same moment. */
const leasesOverMs = 60_000;

/** The server's metrics cost it some tens of milliseconds. */
const metricsMs = 1_000;
/** What controller and agents write; pods have a condition of theirs, beside what kwok says of them. */
const ours = / (?:nodevolume|persistentvolume|volumeattachments|pods\/status)/;

export async function startManyAgents({ plane, names, way, report }: ManyAgentsDeps): Promise<ManyAgents> {
  const { admin, server, ca } = plane;
  const identities: AgentIdentity[] = [];
  await atMost(atOnce, Array(names.shape.nodes).keys(), async (index) => {
    const name = names.node(index);
    const { body } = await admin.call("GET", `/api/v1/nodes/${name}`);
    const { uid = uidOf(2, index) } = (body["metadata"] ?? {}) as { uid?: string };
    identities.push({ node: name, token: await requestToken(admin, "nodevolume-agent", { kind: "Node", name, uid }) });
  });
  const fleet = createFleet({ server, ca, way }, Math.max(2, cpus().length), report);
  fleet.start(identities, perSecond);
  fleet.startLeases(leasesOverMs);
  let looked: { readonly at: number; readonly requests: Requests } | undefined;
  return {
    async requests() {
      if (looked === undefined || performance.now() - looked.at > metricsMs) {
        const { requests } = await serverCounts(admin);
        const kept = Object.entries(named(requests)).filter(([what]) => ours.test(what));
        looked = { at: performance.now(), requests: Object.fromEntries(kept) };
      }
      return looked.requests;
    },
    said: () => fleet.total().said,
    stop: () => fleet.stop(),
  };
}
