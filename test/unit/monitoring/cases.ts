/** Series as promtool writes them: a value, and what each minute adds so many times. */
export interface AlertCase {
  readonly alert: string;
  readonly fires: { readonly [series: string]: string };
  /** Labels of the alert beside its name and severity. */
  readonly labels: { readonly [label: string]: string };
  /** The same for as long, and nobody is told; or for less long. */
  readonly quiet: { readonly [series: string]: string };
}

const agent = 'job="nodevolume-agent", node="n1"';
const labels = { job: "nodevolume-agent", node: "n1" };
const ofNode = { node: "n1" };
const always = (value: number) => `${value}x90`;
/** Nothing for an hour, and then for so many minutes. */
const lately = (value: number, minutes: number, before = 0) => `${before}x${90 - minutes} ${value}x${minutes}`;

/** What is so after 90 minutes. */
export const cases: readonly AlertCase[] = [
  {
    alert: "NodeVolumeAgentDown",
    fires: { [`up{${agent}}`]: lately(0, 12, 1) },
    labels,
    quiet: { [`up{${agent}}`]: lately(0, 8, 1), 'up{job="another", node="n1"}': always(0) },
  },
  {
    alert: "NodeVolumeAgentNotLooking",
    // A check a minute, and none after the 75th minute.
    fires: { [`nodevolume_agent_last_check_timestamp_seconds{${agent}}`]: `0+60x75 ${75 * 60}x15` },
    labels,
    quiet: { [`nodevolume_agent_last_check_timestamp_seconds{${agent}}`]: "0+60x90" },
  },
  {
    alert: "NodeVolumeAgentDeaf",
    fires: { [`nodevolume_agent_watch_connected{${agent}}`]: lately(0, 12, 1) },
    labels,
    quiet: { [`nodevolume_agent_watch_connected{${agent}}`]: lately(0, 8, 1) },
  },
  {
    alert: "NodeVolumeWaiting",
    fires: { [`nodevolume_agent_volumes_waiting{${agent}, reason="ServerUnreachable"}`]: lately(2, 35) },
    labels: { ...ofNode, reason: "ServerUnreachable" },
    quiet: {
      [`nodevolume_agent_volumes_waiting{${agent}, reason="ServerUnreachable"}`]: lately(2, 25),
      [`nodevolume_agent_volumes_waiting{${agent}, reason="Suspended"}`]: always(3),
    },
  },
  {
    alert: "NodeVolumeDriftNotRepaired",
    fires: { [`nodevolume_agent_volumes_drifted{${agent}, class="Missing"}`]: lately(1, 20) },
    labels: { ...ofNode, class: "Missing" },
    quiet: { [`nodevolume_agent_volumes_drifted{${agent}, class="Missing"}`]: lately(1, 10) },
  },
  {
    alert: "NodeVolumeDriftRepeats",
    fires: { [`nodevolume_agent_drifts_total{${agent}, class="Missing"}`]: "0+1x90" },
    labels: { ...ofNode, class: "Missing" },
    quiet: { [`nodevolume_agent_drifts_total{${agent}, class="Missing"}`]: `${always(100)}` },
  },
  {
    alert: "NodeVolumeOrphans",
    fires: { [`nodevolume_agent_orphans{${agent}, reason="UnexplainedRemoval"}`]: lately(1, 65) },
    labels: ofNode,
    quiet: {
      [`nodevolume_agent_orphans{${agent}, reason="UnexplainedRemoval"}`]: lately(1, 50),
      [`nodevolume_agent_orphans{${agent}, reason="Retained"}`]: always(5),
    },
  },
  {
    alert: "NodeVolumeAbandonedChildren",
    fires: { [`nodevolume_agent_abandoned_children{${agent}}`]: lately(1, 20) },
    labels,
    quiet: { [`nodevolume_agent_abandoned_children{${agent}}`]: lately(1, 10) },
  },
  {
    alert: "NodeVolumeJournalFailing",
    fires: { [`nodevolume_agent_journal_failures_total{${agent}}`]: lately(3, 5) },
    labels,
    quiet: { [`nodevolume_agent_journal_failures_total{${agent}}`]: always(3) },
  },
  {
    alert: "NodeVolumeJournalDamaged",
    fires: { [`nodevolume_agent_journal_damaged_lines{${agent}}`]: always(1) },
    labels,
    quiet: { [`nodevolume_agent_journal_damaged_lines{${agent}}`]: always(0) },
  },
  {
    alert: "NodeVolumeFull",
    fires: {
      [`nodevolume_volume_stats_available_bytes{${agent}, intent="n1.lun"}`]: lately(2, 8, 50),
      [`nodevolume_volume_stats_capacity_bytes{${agent}, intent="n1.lun"}`]: always(100),
      [`nodevolume_volume_stats_used_bytes{${agent}, intent="n1.lun"}`]: always(98),
    },
    labels: { ...labels, intent: "n1.lun" },
    quiet: {
      [`nodevolume_volume_stats_available_bytes{${agent}, intent="n1.lun"}`]: always(4),
      [`nodevolume_volume_stats_capacity_bytes{${agent}, intent="n1.lun"}`]: always(100),
      [`nodevolume_volume_stats_used_bytes{${agent}, intent="n1.lun"}`]: always(96),
    },
  },
  {
    alert: "NodeVolumeMountTableUnwatched",
    fires: { [`nodevolume_agent_mount_table_unwatched{${agent}, table="node"}`]: lately(1, 20) },
    labels: ofNode,
    quiet: { [`nodevolume_agent_mount_table_unwatched{${agent}, table="node"}`]: lately(1, 10) },
  },
  {
    alert: "NodeVolumeOperationsFailing",
    fires: {
      [`volume_manager_operations_total{${agent}, operation="stage", status="transient"}`]: "0+2x90",
      [`volume_manager_operations_total{${agent}, operation="stage", status="success"}`]: "0+1x90",
    },
    labels: { ...ofNode, operation: "stage" },
    quiet: {
      [`volume_manager_operations_total{${agent}, operation="stage", status="transient"}`]: "0+1x90",
      [`volume_manager_operations_total{${agent}, operation="stage", status="success"}`]: "0+2x90",
      'volume_manager_operations_total{job="kubelet", node="n1", operation="stage", status="transient"}': "0+9x90",
    },
  },
  {
    alert: "NodeVolumePodDriverNotRegistered",
    fires: { [`nodevolume_pod_driver_registered{${agent}}`]: lately(0, 20, 1) },
    labels,
    quiet: { [`nodevolume_pod_driver_registered{${agent}}`]: lately(0, 10, 1) },
  },
  {
    alert: "NodeVolumePlanUnexplained",
    fires: { [`nodevolume_agent_plans_unexplained_total{${agent}}`]: lately(1, 30) },
    labels,
    quiet: { [`nodevolume_agent_plans_unexplained_total{${agent}}`]: always(1) },
  },
  {
    alert: "NodeVolumeAgentRequestRefused",
    fires: { [`nodevolume_api_proxy_refused_total{${agent}, kind="rule"}`]: lately(1, 2) },
    labels: { ...ofNode, kind: "rule" },
    quiet: {
      [`nodevolume_api_proxy_refused_total{${agent}, kind="rule"}`]: always(1),
      [`nodevolume_api_proxy_refused_total{${agent}, kind="busy"}`]: "0+1x90",
    },
  },
  {
    alert: "NodeVolumeNoLeader",
    fires: { 'nodevolume_controller_leader{pod="a"}': lately(0, 8, 1) },
    labels: {},
    quiet: { 'nodevolume_controller_leader{pod="a"}': always(0), 'nodevolume_controller_leader{pod="b"}': always(1) },
  },
  {
    alert: "NodeVolumePolicyMissing",
    fires: { 'nodevolume_agent_policy_missing{node="n2"}': lately(1, 8) },
    labels: {},
    quiet: { 'nodevolume_controller_policy_missing{pod="a"}': always(0) },
  },
  {
    alert: "NodeVolumeAgentsLost",
    fires: { 'nodevolume_controller_agents{pod="a", state="lost"}': lately(2, 15) },
    labels: {},
    quiet: { 'nodevolume_controller_agents{pod="a", state="live"}': always(9) },
  },
  {
    alert: "NodeVolumeSetFailing",
    fires: { 'nodevolume_controller_set_nodes_failed{pod="a", set="nfs"}': lately(3, 20) },
    labels: { set: "nfs" },
    quiet: { 'nodevolume_controller_set_nodes_failed{pod="a", set="nfs"}': lately(3, 10) },
  },
  {
    alert: "NodeVolumeSetNotReady",
    fires: {
      'nodevolume_controller_set_ready{pod="a", set="nfs", reason="RollingOut"}': lately(0, 40, 1),
      'nodevolume_controller_set_nodes_failed{pod="a", set="nfs"}': always(0),
    },
    labels: { set: "nfs", reason: "RollingOut" },
    quiet: {
      'nodevolume_controller_set_ready{pod="a", set="new", reason="RollingOut"}': lately(0, 20, 1),
      'nodevolume_controller_set_ready{pod="a", set="off", reason="Suspended"}': always(0),
      'nodevolume_controller_set_ready{pod="a", set="bad", reason="NodesNotReady"}': always(0),
      'nodevolume_controller_set_nodes_failed{pod="a", set="bad"}': always(1),
    },
  },
  {
    alert: "NodeVolumeQueueStuck",
    fires: {
      'nodevolume_controller_queue_depth{pod="a", queue="sets"}': always(1),
      'nodevolume_controller_leader{pod="a"}': always(1),
    },
    labels: { pod: "a", queue: "sets" },
    quiet: {
      'nodevolume_controller_queue_depth{pod="a", queue="sets"}': "1x70 0x1 1x19",
      'nodevolume_controller_queue_depth{pod="b", queue="sets"}': always(1),
      'nodevolume_controller_leader{pod="a"}': always(1),
    },
  },
  {
    alert: "NodeVolumeReconcileFailing",
    fires: {
      'nodevolume_controller_reconcile_total{pod="a", queue="sets", result="failure"}': "0+1x90",
      'nodevolume_controller_reconcile_total{pod="a", queue="sets", result="success"}': "0+5x90",
    },
    labels: { queue: "sets" },
    quiet: {
      'nodevolume_controller_reconcile_total{pod="a", queue="sets", result="failure"}': "0+1x90",
      'nodevolume_controller_reconcile_total{pod="a", queue="sets", result="success"}': "0+50x90",
    },
  },
  {
    alert: "NodeVolumeEventsDropped",
    fires: { 'nodevolume_agent_events_dropped_total{node="n1", reason="refused"}': lately(4, 30) },
    labels: {},
    quiet: { 'nodevolume_controller_events_dropped_total{pod="a", reason="refused"}': always(4) },
  },
];
