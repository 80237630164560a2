import type { Reason } from "./reasons.ts";

/**
 * Who tells that a wait may be over, so that its backoff ends at once:
 * - source: inotify along the path that the volume comes from, and the mount table, as mounts lie over it
 * - target: the same along the path that it is mounted on
 * - written: inotify on the file at the source path: somebody who could write to it has closed it
 * - device: the kernel's uevents of block devices
 * - process: the end of a process that the wait is for, by pidfd
 * - mounts: the mount table: something that shows the volume, or lies on or beneath its path, came or went
 * - room: a child of the agent has ended
 * - content: the watch of the ConfigMap or Secret that is shown
 * - driver: the plugin registration directory: a CSI driver came, went or was replaced
 * - program: inotify along the path of a program of the node's, and on it, once somebody who could write to it has
 *   closed it
 * - state: nothing has failed and no attempt is made: what the wait is for is read anew with each change of the API's
 *   objects or of the mount table, and now and then
 * - backoff: no event; tried again after a while
 *
 * Backoff ends every wait of an attempt that failed, beside what is named here: an event may get lost. So does another
 * spec.
 */
export type WokenBy =
  | "source"
  | "target"
  | "written"
  | "device"
  | "process"
  | "mounts"
  | "room"
  | "content"
  | "driver"
  | "program"
  | "state"
  | "backoff";

/** What wakes each reason. docs/reasons.md has the same, by waker; a test compares the two. */
export const wokenBy = {
  // The life of an intent
  NotObserved: ["state"],
  NotGranted: ["state"],
  Progressing: ["state"],
  Mounted: [],
  InUseAsSwap: [],
  Observing: [],
  WouldChange: [],
  WaitingForKubelet: ["state"],
  Suspended: [],
  Unmounting: ["state"],
  Released: [],
  ReleasedWithoutAcknowledgement: [],
  Retained: [],
  AgentLate: ["state"],
  AgentLost: ["state"],
  AgentLive: [],

  // What the agent cannot read or understand
  Invalid: ["state"],
  StaleRead: ["state"],
  IndexMissing: ["state"],
  IndexBehind: ["state"],
  IndexTooLarge: ["state"],
  MountTableUnreadable: ["state"],
  JournalFailed: ["backoff"],

  // Paths and sources
  PathNotAllowed: ["target"],
  PathConflict: ["state"],
  SourceNotAllowed: ["source"],
  SourceNotFound: ["source"],
  SourceDiffers: ["source"],
  SourceWrongType: ["source"],
  TargetNotDirectory: ["target"],
  TargetNotFile: ["target"],
  SymlinkInPath: ["source", "target"],
  DotDotInPath: ["state"],
  ForeignMount: ["mounts"],
  ForeignMountInPath: ["mounts"],
  TargetMoved: ["state"],
  NotPropagated: ["state"],
  TargetCovered: ["mounts"],
  TargetChanged: ["target", "mounts"],

  // Devices and file systems
  DeviceBusy: ["source", "written", "device", "process", "mounts"],
  DeviceNotEmpty: ["source", "written", "device"],
  DiskNotFound: ["device"],
  DiskNotCompared: ["backoff"],
  DiskAmbiguous: ["device"],
  FilesystemReadOnly: ["state"],
  FilesystemMissing: ["source", "written", "device"],
  FilesystemMismatch: ["source", "written", "device"],
  FilesystemUnsupported: ["source", "written", "device"],
  FilesystemDuplicate: ["source", "written", "device", "mounts"],
  FilesystemDamaged: ["source", "written", "device"],
  JournalNotReplayed: ["source", "written", "device"],
  ReadError: ["source", "device"],
  PassphraseRefused: ["content"],
  SwapNeeded: ["backoff"],
  VolumeGroupFull: ["backoff"],
  ToolMissing: ["backoff"],
  FormatFailed: ["backoff"],
  OptionsRefused: ["backoff"],
  QuotaUnsupported: ["backoff"],
  ShareNotFound: ["backoff"],
  ImageUnsupported: ["backoff"],
  CredentialsRefused: ["content"],
  InitiatorNotReady: ["backoff"],
  ServerUnreachable: ["backoff"],

  // Content that is fetched
  RepositoryRefused: ["backoff"],
  RevisionNotFound: ["backoff"],
  ContentRefused: ["backoff"],
  ContentTooLarge: ["backoff"],

  // Objects whose content is mounted
  ConfigMapNotFound: ["content"],
  SecretNotFound: ["content"],
  KeyNotFound: ["content"],
  ConfigMapAccessDenied: ["content"],
  SecretAccessDenied: ["content"],
  FileConflict: ["content"],
  NodeNotFound: ["content"],
  NodeAccessDenied: ["content"],
  ServiceAccountNotFound: ["content"],
  TokenAccessDenied: ["content"],
  TrustBundleNotFound: ["content"],
  TrustBundleAccessDenied: ["content"],
  ContentUnknown: ["content"],

  // Volumes that are attached, and claims
  WaitingForAttach: ["state"],
  AttachFailed: ["state"],
  Detaching: ["state"],
  VolumeHeldElsewhere: ["state"],
  ForeignAttachment: ["state"],
  UsedByPods: ["state"],
  SharedWithKubelet: ["state"],
  AttachLimitReached: ["state"],
  DriverNotOnNode: ["state"],
  NotProtected: ["state"],
  AttachNotManaged: ["state"],
  StaleNodeID: ["state"],
  PublishContextTooLarge: ["state"],
  VolumeTooLarge: ["state"],
  ClaimNotFound: ["state"],
  ClaimNotAllowed: ["state"],
  ClaimNotBound: ["state"],
  ClaimLost: ["state"],
  ClaimDeleting: ["state"],
  SELinuxConflict: ["state"],
  PodLacksGroup: ["state"],
  ClaimOfOther: ["state"],
  ClaimMismatch: ["state"],
  PersistentVolumeNotFound: ["state"],
  VolumeModeMismatch: ["state"],
  AccessModeMismatch: ["state"],
  VolumeSourceUnsupported: ["state"],
  NodeAffinityMismatch: ["state"],
  NeedsScheduler: ["state"],
  ProvisioningRefusedForNode: ["state"],
  PolicyMissing: ["state"],
  LifecycleModeUnsupported: ["state"],
  PerPodIdentity: ["state"],

  // The driver for pods
  CSIDriverWrong: ["state"],

  // Events of volumes that are attached and grow, in kubelet's words
  SuccessfulAttachVolume: [],
  SuccessfulDetachVolume: [],
  FailedAttachVolume: ["state"],
  FileSystemResizeSuccessful: [],
  FileSystemResizeFailed: ["state"],
  VolumeResizeFailed: ["state"],

  // CSI drivers on the node
  DriverNotRegistered: ["driver"],
  DriverFailed: ["driver"],
  DriverUnavailable: ["driver"],
  DriverBusy: ["driver"],
  DriverReplyInvalid: ["driver"],
  DriverMissing: ["program"],
  DriverReplyFalse: ["driver", "mounts"],
  DriverMayStillAct: ["state"],
  VolumeInUse: ["state"],
  NoWritableMount: ["state"],
  FsGroupConflict: ["state"],
  GrantOutdated: ["state"],
  SELinuxContextConflict: ["state"],
  VolumePermissionChangeInProgress: ["state"],
  VolumePermissionChangeRefused: ["state"],
  VolumeConditionAbnormal: ["state"],
  VolumeConditionNormal: [],
  ExpansionInfeasible: ["state"],

  // Set-up, change and removal that failed
  SetUpFailed: ["backoff"],
  TearDownFailed: ["backoff"],
  TargetBusy: ["process", "mounts"],
  StillReferenced: ["process", "mounts"],
  ForeignMountOnTarget: ["mounts"],
  ForeignMountBeneath: ["mounts"],
  TimedOut: ["backoff"],
  OperationAbandoned: ["process"],
  NotAnswering: ["state"],
  ProcessLimitReached: ["room"],
  LeftByKubelet: ["state"],
  OrphanReaped: [],
  UnexplainedRemoval: ["state"],

  // Pods
  ConsumerStillRunning: ["state"],
  PodNotListed: ["state"],
  WaitingForToken: ["state"],
  PodMismatch: ["state"],
  BlockForPods: ["state"],
  SubPathMissing: ["backoff"],
  SetNotFound: ["state"],
  SetNotServing: ["state"],
  NamespaceNotAllowed: ["state"],
  NodeNotSelected: ["state"],
  NodeAffinityConflict: ["state"],

  // Sets
  AllReady: [],
  NoNodesSelected: ["state"],
  NoConsumers: [],
  RollingOut: ["state"],
  RolloutPaused: ["state"],
  NodesNotReady: ["state"],
  Conflict: ["state"],
  Drifted: ["state"],
  InSync: [],
  NoConflict: [],
  IntentTooLarge: ["state"],
  Deleting: ["state"],
  NodeLost: ["state"],
} as const satisfies { readonly [R in Reason]: readonly WokenBy[] };

/** Who tells that a wait for this reason may be over. */
export function wakersOf(reason: Reason): ReadonlySet<WokenBy> {
  return new Set<WokenBy>(wokenBy[reason]);
}
