import { apiVersion, fieldManager, resource, systemNamespace } from "../api/names.ts";
import type { MountTable } from "../host/mount-table/mount-table.ts";
import { createKubeClient } from "../kube/client/client.ts";
import type { EventInput } from "../kube/events/event-correlator.ts";
import { createEventRecorder } from "../kube/events/event-recorder.ts";
import { createLeaseRenewer } from "../kube/leases/lease-renewer.ts";
import { followPolicies, type PolicyChange } from "../kube/policies/follow-policies.ts";
import { bindingsOfAgent } from "../kube/policies/policies.ts";
import type { ContentRef } from "../plugins/api/content.ts";
import type { Agent, AgentDeps } from "./agent.ts";
import { Backoff } from "./backoff/backoff.ts";
import { RetryTriggers } from "./backoff/retry-triggers.ts";
import { ContentSource } from "./content/content-source.ts";
import { intentSource } from "./desired/choose-intent-source.ts";
import { DesiredStateOfWorld } from "./desired/desired-state-of-world.ts";
import { watchOwnState } from "./desired/own-state.ts";
import { logOperation, type OperationResult } from "./executor/log-operation.ts";
import { OperationExecutor } from "./executor/operation-executor.ts";
import { PendingOperations } from "./executor/pending-operations.ts";
import { readSecret } from "./executor/secrets.ts";
import { Trash, throwsAway } from "./executor/trash.ts";
import { ClientWatch } from "./health/fuse-client-watch.ts";
import { HealthChecks } from "./health/health-checks.ts";
import { TableWatches } from "./health/mount-table-watch.ts";
import { ServerWatch } from "./health/server-probe.ts";
import { VolumeStatsPoller } from "./health/volume-stats.ts";
import { openJournal } from "./journal/open-journal.ts";
import { orphansOfKubelet } from "./kubelet/start-orphan-cleanup.ts";
import { Loop } from "./loop.ts";
import { AgentMetrics } from "./metrics/agent-metrics.ts";
import { HealthCheckMetrics } from "./metrics/health-check-metrics.ts";
import { registerMountTableMetrics } from "./metrics/mount-table-metrics.ts";
import { registerNotReadyMetrics } from "./metrics/not-ready-metrics.ts";
import { registerVolumeStatsMetrics } from "./metrics/volume-stats-metrics.ts";
import { WakeMetrics } from "./metrics/wakeup-metrics.ts";
import type { Operation } from "./model/operation.ts";
import { type Observation, observationOf } from "./model/plan-input.ts";
import type { Plan } from "./model/volume-plan.ts";
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
 *   table ───┘                      └─► reporters ─► status, events, metrics
 *
 * Order of start: first the Lease, so that a node whose journal cannot be opened yet does not count as lost; then the
 * journal; then all parts, which do nothing yet; at the end the watches, after the listeners that they feed. Order of
 * stop: what could trigger the loop; the loop, which waits for running operations; the parts that follow its plans;
 * last the writers of status, the Lease and the journal.
 * @returns while the journal cannot be opened it does not resolve; if `signal` ends that wait, an agent that is never
 *   ready
 */
export async function startAgent(deps: AgentDeps): Promise<Agent> {
  const { system, transport, host, nodeName, settings } = deps;
  const { log } = system;
  const healthChecks = deps.healthChecks ?? new HealthChecks(system.clock);
  const client = createKubeClient({ transport, fieldManager: fieldManager.agent });
  const lease = createLeaseRenewer({
    system,
    client,
    namespace: systemNamespace,
    name: nodeName,
    onRenewed() {
      healthChecks.leaseRenewedAt = system.clock.now();
    },
  });
  lease.start();
  const journal = await openJournal({ system, host, healthChecks, signal: deps.signal });
  if (journal === undefined) return { ready: () => false, podVolumes: noPods.volumes, stop: () => lease.stop() };
  const identity = { bootID: journal.bootID, epoch: journal.epoch };
  const metrics = new AgentMetrics(deps.registry);
  const healthMetrics = new HealthCheckMetrics({
    registry: deps.registry,
    healthChecks,
    journal,
    now: () => system.clock.now(),
    watchConnected: () => intents.store.state().connected,
    abandonedChildren: () => operations.abandoned,
    policyMissing: () => state.policyMissing !== undefined,
  });
  const tables = new TableWatches({
    system,
    tables: { agent: host.mountTable, node: host.nodeTable, swap: host.swaps },
    onChange: () => loop.trigger(),
  });
  registerMountTableMetrics(deps.registry, host, tables);
  const events = createEventRecorder({
    system,
    client,
    component: fieldManager.agent,
    host: nodeName,
    yieldTo: () => reporter.settled(), // somebody waits for a status
    onDrop: (reason) => healthMetrics.droppedEvents.inc({ reason }),
  });
  const onRestart = (reason: string) => healthMetrics.watchRestarts.inc({ reason });
  const by = deps.intents ?? "Watch";
  const watched = { system, transport, nodeName };
  const states = watchOwnState({ ...watched, ...(by === "Index" && { onRestart }) });
  const onRecord = () => journal.records.keys();
  const intents = intentSource({ ...watched, by, states, onRecord, onRestart });
  const contentSource = new ContentSource({ system, transport, onChange: contentChanged });
  const observed = new Map<string, Observation>();
  const synced = () => intents.store.state().synced;
  healthChecks.needs("intents", () => intents.notSynced());
  const reporter = new Reporter({ system, client, intents, agent: identity, healthChecks });
  const agent = { ...identity, version: deps.version };
  const { kubeletDir } = settings;
  const place = { system, states, client, nodeName, settings, agent, damage: journal.damage };
  const event = (told: Omit<EventInput, "object">) => events.event({ object: nodeState(), ...told });
  const kubelets = orphansOfKubelet({
    ...{ system, host, client, journal, nodeName, settings, drivers: deps.drivers, registry: deps.registry },
    graceMs: deps.reapGraceMs ?? 0,
    event,
  });
  const heard = { synced: () => synced() && intents.unread() === undefined, problem: () => intents.problem() };
  // With an index there are too many nodes for a watch each: each agent polls the policies.
  const policies = {
    acceptedPolicies: deps.acceptedPolicies,
    ...(by === "Watch" && {
      followPolicies: (changed: (change: PolicyChange) => void) =>
        followPolicies({ system, transport }, bindingsOfAgent, changed),
    }),
  };
  const onAgentsRight = () => intents.relist();
  const state = new NodeStateReporter({
    ...place,
    ...heard,
    ...policies,
    onAgentsRight,
    healthChecks,
    ...kubelets,
    event,
  });
  healthChecks.remark = () => state.policyMissing;
  const nodeState = () => ({ apiVersion, kind: resource.states.kind, name: nodeName, uid: state.uid });

  const tokens = new KeptTokens(system.clock);
  const operations = new PendingOperations({
    ...{ system, journal, evidence: host.evidence },
    onSlow: () => loop.trigger(),
  });
  const executor = new OperationExecutor({
    operations,
    system,
    host,
    journal,
    settings,
    drivers: deps.drivers,
    secret: (ref) => readSecret({ client, nodeName }, ref),
    identities: tokens,
    content: (ref) => contentSource.get(ref),
    observed(desired, seen) {
      const last = { at: system.clock.monotonic(), previous: observed.get(desired.name) };
      observed.set(desired.name, observationOf(desired, seen, last));
    },
    progress: (volume, message) => log.info("progress", { intent: volume, step: message }),
    ...(deps.deadlineMs !== undefined && { deadlineMs: deps.deadlineMs }),
  });

  const backoff = new Backoff(system);
  const retryTriggers = new RetryTriggers({
    system,
    wakeups: host.wakeups,
    settings,
    backoff,
    metrics: new WakeMetrics(deps.registry),
    running: () => operations.running,
    trigger: () => loop.trigger(),
  });
  function contentChanged(ref: ContentRef): void {
    retryTriggers.contentChanged(ref);
    loop.trigger();
  }

  const forgetDrivers = deps.drivers.subscribe((name) => {
    retryTriggers.driverChanged(name);
    loop.trigger();
  });
  const trigger = () => loop.trigger();
  const stats = new VolumeStatsPoller({ system, drivers: deps.drivers, onHealth: trigger });
  const clients = new ClientWatch({ system, wakeups: host.wakeups, directories: host.directories, onChange: trigger });
  const servers =
    host.servers &&
    new ServerWatch({ system, servers: host.servers, runs: (name) => operations.runs(name), onChange: trigger });
  registerVolumeStatsMetrics(deps.registry, () => stats.polled());
  registerNotReadyMetrics(deps.registry, () => [...intents.store.list()].map(({ raw }) => raw));
  const open = new OpenPods();
  const world = new DesiredStateOfWorld({
    store: intents.store,
    follow: (refs) => contentSource.follow(refs),
    onChange: trigger,
    pods: kubeletDir === undefined ? undefined : { kubeletDir, isOpen: (path) => open.isOpen(path) },
  });
  const own = { system, host, journal, settings, operations };
  const pods = podsOf({ ...own, open, tokens, world, store: intents.store });

  const loop: Loop = new Loop({
    system,
    host,
    journal,
    executor,
    operations,
    settings,
    backoff,
    planner: new Planner(),
    gather(table) {
      pods.looked(table);
      world.follow();
      const { closing: closingPods } = open;
      const touched = world.touched.take();
      return { volumes: world.volumes, synced: world.synced, touched, closingPods, tokens: tokens.states };
    },
    contents: (ref) => contentSource.state(ref),
    observed,
    health: () => stats.health,
    ...(servers && { unresponsive: () => servers.silent }),
    ended: () => clients.ended,
    registered: (driver) => deps.drivers.driver(driver) !== undefined,
    onPlan: tell,
    onOperation: ended,
  });

  const tellOf = tellTransitions({ log, metrics, events, nodeState });
  function tell(plan: Plan, table: MountTable | undefined): void {
    metrics.plan(plan, table);
    tellOf(plan);
    healthChecks.looked();
    stats.follow(plan);
    servers?.follow(plan);
    clients.follow(plan);
    pods.told(plan);
    reporter.update(plan);
    state.update(plan, table);
    retryTriggers.follow(plan, table);
    retryTriggers.followChildren(operations.abandonedChildren());
    deps.onPlan?.(plan);
  }

  function ended(operation: Operation, result: OperationResult): void {
    metrics.operation(operation, result.failure?.errorClass ?? "success", result.durationMs);
    logOperation(log, operation, result);
    if (throwsAway(operation, result.failure, journal?.records)) trash.empty();
  }

  const trash = new Trash(system, host.directories);

  const unsubscribe = world.start();
  tables.start();
  intents.start();
  state.start({ watchPolicy: deps.watchPolicy === true });
  healthChecks.looked();
  trash.empty();
  log.info("agent started", { epoch: journal.epoch, volumes: journal.records.size });

  return {
    ready: synced,
    podVolumes: pods.volumes,
    async stop() {
      tables.stop();
      trash.stop();
      unsubscribe();
      forgetDrivers();
      await loop.stop();
      for (const part of [pods, retryTriggers, stats, servers, clients]) part?.stop();
      await kubelets.stop();
      intents.stop();
      contentSource.stop();
      events.stop();
      await Promise.all([reporter.stop(), state.stop(), lease.stop(), journal.close()]);
    },
  };
}
