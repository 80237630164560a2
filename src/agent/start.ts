import { apiVersion, fieldManager, resource, systemNamespace } from "../api/names.ts";
import { createKubeClient, type KubeClient } from "../kube/client/client.ts";
import type { EventInput } from "../kube/events/event-correlator.ts";
import { createEventRecorder } from "../kube/events/event-recorder.ts";
import { createLeaseRenewer } from "../kube/leases/lease-renewer.ts";
import { followPolicies, type PolicyChange } from "../kube/policies/follow-policies.ts";
import { bindingsOfAgent } from "../kube/policies/policies.ts";
import type { Agent, AgentDeps } from "./agent.ts";
import { Backoff } from "./backoff/backoff.ts";
import { RetryTriggers } from "./backoff/retry-triggers.ts";
import { ContentSource } from "./content/content-source.ts";
import { intentSource } from "./desired/choose-intent-source.ts";
import { DesiredStateOfWorld } from "./desired/desired-state-of-world.ts";
import { watchOwnState } from "./desired/own-state.ts";
import { logOperation } from "./executor/log-operation.ts";
import { OperationExecutor } from "./executor/operation-executor.ts";
import { PendingOperations } from "./executor/pending-operations.ts";
import { readSecret } from "./executor/secrets.ts";
import { Trash, throwsAway } from "./executor/trash.ts";
import { ClientWatch } from "./health/fuse-client-watch.ts";
import { HealthChecks } from "./health/health-checks.ts";
import { TableWatches } from "./health/mount-table-watch.ts";
import { ServerWatch } from "./health/server-probe.ts";
import { VolumeStatsPoller } from "./health/volume-stats.ts";
import type { Journal } from "./journal/journal.ts";
import { openJournal } from "./journal/open-journal.ts";
import { Loop, LoopTrigger } from "./loop.ts";
import { AgentMetrics } from "./metrics/agent-metrics.ts";
import { healthCounters, registerHealthCheckMetrics } from "./metrics/health-check-metrics.ts";
import { registerMountTableMetrics } from "./metrics/mount-table-metrics.ts";
import { registerNotReadyMetrics } from "./metrics/not-ready-metrics.ts";
import { registerVolumeStatsMetrics } from "./metrics/volume-stats-metrics.ts";
import { WakeMetrics } from "./metrics/wakeup-metrics.ts";
import type { VolumeName } from "./model/identities.ts";
import { type Observation, observationOf } from "./model/plan-input.ts";
import type { PlanListener } from "./model/volume-plan.ts";
import { orphansOfKubelet } from "./orphans/start-orphan-cleanup.ts";
import { Planner } from "./planner/incremental/incremental-planner.ts";
import { KeptTokens } from "./pods/kept-tokens.ts";
import { OpenPods } from "./pods/open-pods.ts";
import { noPods, podsOf } from "./pods/start-pods.ts";
import { NodeStateReporter } from "./status/node-state-reporter.ts";
import { Reporter } from "./status/status-reporter.ts";
import { tellTransitions } from "./status/tell-transitions.ts";

export type { Agent, AgentDeps } from "./agent.ts";

/**
 * The agent of one node, built from ports alone. The caller holds the node's lock. This is wiring, nothing else:
 *
 *   intents ─┐                      ┌─► executor ─► host ─► kernel
 *   contents ┼─► loop ─► plan ──────┤
 *   table ───┘                      └─► listeners ─► status, Events, metrics
 *
 * Each of the four builders takes the parts of those before it, so that none names a part that does not exist yet.
 * Order of start: first the Lease, so that a node whose journal cannot be opened yet does not count as lost; then the
 * journal; then all parts, which do nothing yet; at the end the watches, after the listeners that they feed. Order of
 * stop: what could trigger the loop; the loop, which waits for running operations; the parts that follow its plans;
 * last the writers of status, the Lease and the journal.
 * @returns while the journal cannot be opened it does not resolve; if `signal` ends that wait, an agent that is never
 *   ready
 */
export async function startAgent(deps: AgentDeps): Promise<Agent> {
  const { system, host, transport, nodeName } = deps;
  const healthChecks = deps.healthChecks ?? new HealthChecks(system.clock);
  const client = createKubeClient({ transport, fieldManager: fieldManager.agent });
  const onRenewed = () => {
    healthChecks.leaseRenewedAt = system.clock.now();
  };
  const lease = createLeaseRenewer({ system, client, namespace: systemNamespace, name: nodeName, onRenewed });
  lease.start();
  const journal = await openJournal({ system, host, healthChecks, signal: deps.signal });
  if (journal === undefined) return { ready: () => false, podVolumes: noPods.volumes, stop: () => lease.stop() };
  const given: Given = { ...deps, healthChecks, client, journal };
  const state = openState(given);
  const model = buildModel(given, state);
  const work = buildLoop(given, state, model);
  const reporting = buildReporting(given, state, model);
  work.loop.follow(planListeners(given, { ...state, ...work, ...reporting }));

  const { loop, pods, trash, stats, servers, clients } = work;
  const { tables, retryTriggers } = state;
  const { intents, contents } = model;
  const unsubscribe = model.world.start();
  tables.start();
  intents.start();
  reporting.nodeState.start({ watchPolicy: deps.watchPolicy === true });
  healthChecks.looked();
  trash.empty();
  system.log.info("agent started", { epoch: journal.epoch, volumes: journal.records.size });

  return {
    ready: () => intents.store.state().synced,
    podVolumes: pods.volumes,
    async stop() {
      tables.stop();
      trash.stop();
      unsubscribe();
      work.forgetDrivers();
      await loop.stop();
      for (const part of [pods, retryTriggers, stats, servers, clients]) part?.stop();
      await reporting.orphans.stop();
      intents.stop();
      contents.stop();
      reporting.events.stop();
      await Promise.all([reporting.reporter.stop(), reporting.nodeState.stop(), lease.stop(), journal.close()]);
    },
  };
}

/** What is there before the first builder. */
interface Given extends AgentDeps {
  readonly client: KubeClient;
  readonly healthChecks: HealthChecks;
  readonly journal: Journal;
}

type State = ReturnType<typeof openState>;
type Model = ReturnType<typeof buildModel>;
type Work = ReturnType<typeof buildLoop>;
type Reporting = ReturnType<typeof buildReporting>;

/** What the node and this agent do now: mount tables, pending operations, and failures with what ends their delay. */
function openState({ system, host, settings, journal, registry }: Given) {
  const metrics = new AgentMetrics(registry);
  const counters = healthCounters(registry);
  const trigger = new LoopTrigger();
  const tables = new TableWatches({
    system,
    tables: { agent: host.mountTable, node: host.nodeTable, swap: host.swaps },
    onChange: trigger.request,
  });
  registerMountTableMetrics(registry, host, tables);
  const { evidence } = host;
  const operations = new PendingOperations({ system, journal, evidence, onSlow: trigger.request });
  const backoff = new Backoff(system);
  const retryTriggers = new RetryTriggers({
    system,
    wakeups: host.wakeups,
    settings,
    backoff,
    metrics: new WakeMetrics(registry),
    running: () => operations.running,
    trigger: trigger.request,
  });
  return { metrics, counters, trigger, tables, operations, backoff, retryTriggers };
}

/** The desired state of world: intents, the objects that they show, and the pods that they name. */
function buildModel(given: Given, { counters, trigger, retryTriggers }: State) {
  const { system, transport, nodeName, settings, journal } = given;
  const { kubeletDir } = settings;
  const onRestart = (reason: string) => counters.watchRestarts.inc({ reason });
  const by = given.intents ?? "Watch";
  const watched = { system, transport, nodeName };
  const states = watchOwnState({ ...watched, ...(by === "Index" && { onRestart }) });
  const onRecord = () => journal.records.keys();
  const intents = intentSource({ ...watched, by, states, onRecord, onRestart });
  given.healthChecks.needs("intents", () => intents.notSynced());
  const contents = new ContentSource({
    system,
    transport,
    onChange(ref) {
      retryTriggers.contentChanged(ref);
      trigger.request();
    },
  });
  const open = new OpenPods();
  const world = new DesiredStateOfWorld({
    store: intents.store,
    follow: (refs) => contents.follow(refs),
    onChange: trigger.request,
    pods: kubeletDir === undefined ? undefined : { kubeletDir, isOpen: (path) => open.isOpen(path) },
  });
  return { by, states, intents, contents, open, tokens: new KeptTokens(system.clock), world };
}

/** The loop, and what it works with: the executor, the probes of mounted volumes, and the pods that wait for it. */
function buildLoop(given: Given, state: State, { intents, contents, open, tokens, world }: Model) {
  const { system, host, settings, drivers, journal } = given;
  const { metrics, trigger, operations, backoff, retryTriggers } = state;
  const observed = new Map<VolumeName, Observation>();
  const executor = executorOf(given, operations, { contents, tokens, observed });
  const onChange = trigger.request;
  const forgetDrivers = drivers.subscribe((name) => {
    retryTriggers.driverChanged(name);
    onChange();
  });
  const stats = new VolumeStatsPoller({ system, drivers, onHealth: onChange });
  const clients = new ClientWatch({ system, wakeups: host.wakeups, directories: host.directories, onChange });
  const runs = (volume: VolumeName) => operations.runs(volume);
  const servers = host.servers && new ServerWatch({ system, servers: host.servers, runs, onChange });
  const pods = podsOf({ system, host, journal, settings, operations, open, tokens, world, store: intents.store });
  registerVolumeStatsMetrics(given.registry, () => stats.polled());
  const trash = new Trash(system, host.directories);
  const loop = new Loop({
    ...{ system, host, journal, executor, operations, settings, backoff, observed },
    planner: new Planner(),
    gather(table) {
      pods.looked(table);
      world.follow();
      const { closing: closingPods } = open;
      return { volumes: world.volumes, synced: world.synced, closingPods, tokens: tokens.states };
    },
    contents: (ref) => contents.state(ref),
    health: () => stats.health,
    ...(servers && { unresponsive: () => servers.unresponsive }),
    ended: () => clients.ended,
    registered: (driver) => drivers.driver(driver) !== undefined,
    onOperation(operation, result) {
      metrics.operation(operation, result.failure?.errorClass ?? "success", result.durationMs);
      logOperation(system.log, operation, result);
      if (throwsAway(operation, result.failure, journal.records)) trash.empty();
    },
  });
  trigger.connect(loop);
  return { loop, stats, clients, servers, pods, trash, forgetDrivers };
}

/** @param observed gets what observe operations find, by volume */
function executorOf(
  { system, host, journal, settings, drivers, client, nodeName, deadlineMs }: Given,
  operations: PendingOperations,
  { contents, tokens, observed }: Pick<Model, "contents" | "tokens"> & { observed: Map<VolumeName, Observation> },
): OperationExecutor {
  return new OperationExecutor({
    ...{ operations, system, host, journal, settings, drivers },
    secret: (ref) => readSecret({ client, nodeName }, ref),
    identities: tokens,
    content: (ref) => contents.get(ref),
    observed(desired, seen) {
      const last = { at: system.clock.monotonic(), previous: observed.get(desired.name) };
      observed.set(desired.name, observationOf(desired, seen, last));
    },
    progress: (volume, message) => system.log.info("progress", { intent: volume, step: message }),
    ...(deadlineMs !== undefined && { deadlineMs }),
  });
}

/** What tells others: status of the intents and of the node, Events, and metrics that are computed when asked for. */
function buildReporting(given: Given, { counters, operations }: State, { by, states, intents }: Model) {
  const { system, host, transport, client, nodeName, settings, journal, healthChecks, drivers, registry } = given;
  const run = { bootID: journal.bootID, epoch: journal.epoch };
  const reporter = new Reporter({ system, client, intents, agent: run, healthChecks });
  const events = createEventRecorder({
    ...{ system, client, component: fieldManager.agent, host: nodeName },
    yieldTo: () => reporter.settled(), // somebody waits for a status
    onDrop: (reason) => counters.droppedEvents.inc({ reason }),
  });
  const nodeObject = () => {
    const uid = states.store.get(nodeName)?.metadata.uid;
    return { apiVersion, kind: resource.states.kind, name: nodeName, uid };
  };
  const event = (told: Omit<EventInput, "object">) => events.event({ object: nodeObject(), ...told });
  const parts = { system, host, client, journal, nodeName, settings, drivers, registry, event };
  const orphans = orphansOfKubelet({ ...parts, graceMs: given.reapGraceMs ?? 0 });
  const nodeState = new NodeStateReporter({
    ...{ system, states, client, nodeName, settings, healthChecks, event, ...orphans },
    agent: { ...run, version: given.version },
    damage: journal.damage,
    synced: () => intents.store.state().synced && intents.unread() === undefined,
    problem: () => intents.problem(),
    acceptedPolicies: given.acceptedPolicies,
    // With an index there are too many nodes for a watch each: each agent polls the policies.
    ...(by === "Watch" && {
      followPolicies: (changed: (change: PolicyChange) => void) =>
        followPolicies({ system, transport }, bindingsOfAgent, changed),
    }),
    onAgentsRight: () => intents.relist(),
  });
  healthChecks.remark = () => nodeState.policyMissing;
  registerHealthCheckMetrics({
    ...{ registry, healthChecks, journal },
    now: () => system.clock.now(),
    watchConnected: () => intents.store.state().connected,
    abandonedChildren: () => operations.abandoned,
    policyMissing: () => nodeState.policyMissing !== undefined,
  });
  registerNotReadyMetrics(registry, () => [...intents.store.list()].map(({ raw }) => raw));
  return { reporter, events, nodeObject, orphans, nodeState };
}

/**
 * The listeners of the plans, in the order in which they get each. None changes what another sees; the order is that
 * of who waits: what counts and records first, as it compares with the plan before; then the probes and kubelet's
 * calls for pods; then status, which is only queued; last the triggers of retries, which open watches.
 */
function planListeners(given: Given, parts: State & Work & Reporting): readonly PlanListener[] {
  const { metrics, stats, servers, clients, pods, reporter, nodeState, retryTriggers, operations } = parts;
  const { log } = given.system;
  return [
    metrics,
    tellTransitions({ log, metrics, events: parts.events, nodeState: parts.nodeObject }),
    { planned: () => given.healthChecks.looked() },
    stats,
    ...(servers === undefined ? [] : [servers]),
    clients,
    pods,
    reporter,
    nodeState,
    retryTriggers,
    { planned: () => retryTriggers.followChildren(operations.abandonedChildren()) },
    { planned: (plan) => given.onPlan?.(plan) },
  ];
}
