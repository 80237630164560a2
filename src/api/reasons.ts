/**
 * Every reason code that a condition, an event, a log line or a metric can carry: one closed table. Each has an entry
 * in docs/reasons.md that says what it means and what to do; a test compares the two.
 *
 * kind says what the reason asks of people:
 * - normal: nothing.
 * - waiting: nothing yet; `endedBy` happens by itself or by somebody else's work.
 * - blocked: somebody must change something before it can go on (a set counts the node as failed).
 */
export interface ReasonInfo {
  readonly kind: "normal" | "waiting" | "blocked";
  readonly endedBy: string;
  /** Who tells that the wait may be over; nobody of a reason that is normal. docs/reasons.md has the same. */
  readonly wakers: readonly WokenBy[];
}

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

/** Every reason, how it ends, and what wakes whoever waits for that. */
export const reasons = {
  // The life of an intent
  NotObserved: waiting("the node's agent reads the intent", "state"),
  NotGranted: waiting("the controller writes spec.grant", "state"),
  Progressing: waiting("the running operation ends", "state"),
  Mounted: normal(),
  InUseAsSwap: normal(),
  Observing: normal(),
  WouldChange: normal("the set gets mode: Manage, or somebody applies the plan by hand"),
  WaitingForKubelet: waiting("kubelet has mounted the volume for the named pod", "state"),
  Suspended: normal("suspend is removed from the set or the Node"),
  Unmounting: waiting("the last mount is gone", "state"),
  Released: normal(),
  ReleasedWithoutAcknowledgement: normal(),
  Retained: normal(),
  AgentLate: waiting("the agent renews its Lease", "state"),
  AgentLost: waiting("the agent renews its Lease", "state"),
  AgentLive: normal(),

  // What the agent cannot read or understand
  Invalid: blocked("the named field is corrected, or the agent or controller is upgraded", "state"),
  StaleRead: waiting("the watch shows a generation that the agent has already seen", "state"),
  IndexMissing: blocked("the controller keeps an index, or the agent watches its intents", "state"),
  IndexBehind: blocked("a controller that keeps indexes runs, or the agent watches its intents", "state"),
  IndexTooLarge: blocked("the node has fewer intents, or the agent watches them", "state"),
  MountTableUnreadable: waiting("the kernel's mount table can be read", "state"),
  JournalFailed: blocked("the state directory can be written", "backoff"),

  // Paths and sources
  PathNotAllowed: blocked("the path or the allowed prefixes are changed", "target"),
  PathConflict: blocked("only one volume uses the path", "state"),
  SourceNotAllowed: blocked("the source path is changed", "source"),
  SourceNotFound: blocked("the path appears on the node", "source"),
  SourceDiffers: blocked("the former source is back, or the node is taken out of the set and back in", "source"),
  SourceWrongType: blocked("the file at the path has the type that the set requires", "source"),
  TargetNotDirectory: blocked("the file in the place of a directory is moved away", "target"),
  TargetNotFile: blocked("the directory in the place of a file is moved away", "target"),
  DotDotInPath: blocked("the path has no segments . and .. any more", "state"),
  SymlinkInPath: blocked("the path has no symbolic links any more", "source", "target"),
  ForeignMount: blocked("the foreign mount is unmounted, or adopted by adopt: IfSame", "mounts"),
  ForeignMountInPath: blocked("the mount between the prefix and the target is unmounted", "mounts"),
  TargetMoved: blocked("the directory above the target has its former name again", "state"),
  NotPropagated: blocked("the prefix is shared between the agent and the node", "state"),
  TargetCovered: blocked("the mount that covers the target is unmounted", "mounts"),

  // Devices and file systems
  DeviceBusy: blocked(
    "no other user has the device open, mounted or claimed",
    "source",
    "written",
    "device",
    "process",
    "mounts",
  ),
  DeviceNotEmpty: blocked("the device is emptied, or another one is named", "source", "written", "device"),
  DiskNotFound: blocked("a free disk matches the selector", "device"),
  DiskNotCompared: waiting("the controller confirms that nobody else uses the disk", "backoff"),
  DiskAmbiguous: blocked("only one disk matches the selector", "device"),
  FilesystemReadOnly: blocked("the file system is checked and staged again", "state"),
  FilesystemMissing: blocked(
    "fsType names the file system to make, or one is made by hand",
    "source",
    "written",
    "device",
  ),
  FilesystemMismatch: blocked("fsType names the existing file system", "source", "written", "device"),
  FilesystemUnsupported: blocked(
    "the disk has a supported file system, and the kernel has its module",
    "source",
    "written",
    "device",
  ),
  FilesystemDuplicate: blocked(
    "the file system with the same UUID is unmounted, or one gets another",
    "source",
    "written",
    "device",
    "mounts",
  ),
  FilesystemDamaged: blocked("the file system is repaired by hand", "source", "written", "device"),
  JournalNotReplayed: blocked(
    "the file system was mounted once with write access, and unmounted",
    "source",
    "written",
    "device",
  ),
  ReadError: blocked("the device can be read", "source", "device"),
  PassphraseRefused: blocked("the Secret has the passphrase that opens the disk", "content"),
  SwapNeeded: waiting("the node has enough free memory to turn the swap off", "backoff"),
  VolumeGroupFull: blocked("the volume group has enough free space", "backoff"),
  ToolMissing: blocked("the named program is installed where the agent runs", "backoff"),
  FormatFailed: blocked("mkfs succeeds at the next attempt", "backoff"),
  OptionsRefused: blocked("the kernel accepts the mount options", "backoff"),
  QuotaUnsupported: blocked("the file system of the agent's state directory keeps project quotas", "backoff"),
  ShareNotFound: blocked("the server has the share, directory, image or target that the source names", "backoff"),
  ImageUnsupported: blocked("the image's features are changed, or the node has a newer kernel", "backoff"),
  CredentialsRefused: blocked("the Secret has a user and a password that the server accepts", "content"),
  InitiatorNotReady: blocked("the node has open-iscsi and the named interface, and iscsid runs", "backoff"),
  ServerUnreachable: waiting("the server answers", "backoff"),

  // Content that is fetched
  RepositoryRefused: blocked("the address leads to a repository that the node may read", "backoff"),
  RevisionNotFound: blocked("the server has the named commit or image", "backoff"),
  ContentRefused: blocked("the set names a commit or image without harmful content", "backoff"),
  ContentTooLarge: blocked("sizeLimit is raised, or the set names something smaller", "backoff"),

  // Objects whose content is mounted
  ConfigMapNotFound: blocked("the ConfigMap is created", "content"),
  SecretNotFound: blocked("the Secret is created", "content"),
  KeyNotFound: blocked("the object has the key", "content"),
  ConfigMapAccessDenied: blocked("a Role lets the agent read the ConfigMap", "content"),
  SecretAccessDenied: blocked("a Role lets the agent read the Secret", "content"),
  FileConflict: blocked("no source of the volume has a file where another has a directory", "content"),
  NodeNotFound: waiting("the Node object exists again", "content"),
  NodeAccessDenied: blocked("a ClusterRole lets the agent read Nodes", "content"),
  ServiceAccountNotFound: blocked("the ServiceAccount is created", "content"),
  TokenAccessDenied: blocked("a Role lets the agent create tokens of the ServiceAccount", "content"),
  TrustBundleNotFound: blocked("the ClusterTrustBundle exists, and the API server serves its kind", "content"),
  TrustBundleAccessDenied: blocked("a ClusterRole lets the agent read ClusterTrustBundles", "content"),
  ContentUnknown: waiting("the API server returns the object", "content"),

  // Volumes that are attached, and claims
  WaitingForAttach: waiting("the driver has attached the volume to the node", "state"),
  AttachFailed: waiting("the driver attaches the volume at its next attempt", "state"),
  Detaching: waiting("the VolumeAttachment that is being deleted is gone", "state"),
  VolumeHeldElsewhere: waiting("the named node has released the volume", "state"),
  ForeignAttachment: waiting("the VolumeAttachment of kube-controller-manager is gone", "state"),
  UsedByPods: waiting("the named pods have ended", "state"),
  SharedWithKubelet: waiting("the named pod has ended", "state"),
  AttachLimitReached: waiting("fewer volumes of the driver are attached to the node", "state"),
  DriverNotOnNode: waiting("the driver is registered on the node: its CSINode lists it", "state"),
  NotProtected: blocked("the API server accepts the finalizer", "state"),
  AttachNotManaged: blocked("a controller attaches volumes to the node, or the driver attaches nothing", "state"),
  StaleNodeID: blocked("somebody makes sure that the old machine is off, and deletes the VolumeAttachment", "state"),
  PublishContextTooLarge: blocked("the driver's attachmentMetadata is at most 4 KiB", "state"),
  VolumeTooLarge: blocked("the PersistentVolume's attributes are few and short enough", "state"),
  ClaimNotFound: blocked("the claim is created", "state"),
  ClaimNotAllowed: blocked("the claim has the label that allows the set", "state"),
  ClaimNotBound: waiting("the claim is bound to a PersistentVolume", "state"),
  ClaimLost: blocked("the claim's PersistentVolume is restored, or the claim is created again", "state"),
  ClaimDeleting: blocked("the claim is gone, and another one is created", "state"),
  SELinuxConflict: blocked("the pods that share the volume have one SELinux level", "state"),
  PodLacksGroup: blocked("the pod is created again with the group in supplementalGroups", "state"),
  ClaimOfOther: blocked("the claim is gone, so that the pod gets its own", "state"),
  ClaimMismatch: blocked("claim and PersistentVolume name each other", "state"),
  PersistentVolumeNotFound: blocked("the PersistentVolume exists", "state"),
  VolumeModeMismatch: blocked("the set has the claim's volumeMode", "state"),
  AccessModeMismatch: blocked("the set, or the claim's access modes, allow its use", "state"),
  VolumeSourceUnsupported: blocked("the claim has a PersistentVolume of a CSI driver", "state"),
  NodeAffinityMismatch: blocked("the set selects only nodes that the PersistentVolume's nodeAffinity allows", "state"),
  NeedsScheduler: blocked("exactly one node uses the claim", "state"),
  ProvisioningRefusedForNode: waiting("the provisioner accepts the node", "state"),
  PolicyMissing: blocked("config/policy is applied", "state"),
  LifecycleModeUnsupported: blocked("the set names a volume of a driver that lists Persistent", "state"),
  PerPodIdentity: blocked(
    "only pods use the volume, and kubelet passes on the pod identity that its driver needs",
    "state",
  ),

  // The driver for pods
  CSIDriverWrong: blocked("the CSIDriver csi.nodevolume.dev matches config/", "state"),

  // Events of volumes that are attached and grow, in kubelet's words
  SuccessfulAttachVolume: normal(),
  SuccessfulDetachVolume: normal(),
  FailedAttachVolume: waiting("the driver attaches the volume at its next attempt", "state"),
  FileSystemResizeSuccessful: normal(),
  FileSystemResizeFailed: waiting("the node has a writable mount of the volume", "state"),
  VolumeResizeFailed: waiting("the driver expands the volume, or another size is requested", "state"),

  // CSI drivers on the node
  DriverNotRegistered: waiting("the driver registers in the plugin registration directory of the node", "driver"),
  DriverFailed: waiting("the driver answers a call with OK", "driver"),
  DriverUnavailable: waiting("the driver answers", "driver"),
  DriverBusy: waiting("the driver has ended its running operation", "driver"),
  DriverReplyInvalid: waiting("the driver's answer follows the CSI specification", "driver"),
  DriverMissing: blocked("the driver's program is installed on the node", "program"),
  DriverReplyFalse: waiting("the mount table confirms the driver's answer", "driver", "mounts"),
  DriverMayStillAct: waiting("a call that timed out can no longer take effect", "state"),
  VolumeInUse: waiting("the volume is staged again on the node", "state"),
  NoWritableMount: waiting("the node has a writable mount of the volume", "state"),
  FsGroupConflict: blocked("all mounts of the volume on the node specify one group", "state"),
  GrantOutdated: blocked("the controller grants the volume again", "state"),
  SELinuxContextConflict: blocked("all mounts of the volume on the node specify one label", "state"),
  VolumePermissionChangeInProgress: waiting("every file of the volume has its group", "state"),
  VolumePermissionChangeRefused: blocked("the file system lets the node's root user change its files", "state"),
  VolumeConditionAbnormal: waiting("the driver reports that the volume is healthy", "state"),
  VolumeConditionNormal: normal(),
  ExpansionInfeasible: blocked("another size is requested", "state"),

  // Set-up, change and removal that failed
  SetUpFailed: waiting("the next attempt succeeds", "backoff"),
  TearDownFailed: waiting("the next attempt succeeds", "backoff"),
  TargetBusy: waiting("no process or mount uses the mount any more", "process", "mounts"),
  StillReferenced: waiting("no mount namespace of the node has a mount of the volume", "process", "mounts"),
  ForeignMountOnTarget: blocked("the foreign mount on top of the volume's mount is unmounted", "mounts"),
  ForeignMountBeneath: blocked("the volume's mount and the foreign mount beneath it are unmounted by hand", "mounts"),
  TargetChanged: waiting("the path does not change during an attempt", "target", "mounts"),
  NotAnswering: waiting("the server or device answers, or the step times out", "state"),
  TimedOut: waiting("the next attempt succeeds", "backoff"),
  OperationAbandoned: waiting("the kernel releases the hung process", "process"),
  ProcessLimitReached: waiting("another process of the agent ends", "room"),
  LeftByKubelet: blocked("somebody removes the leftover, or kubelet does", "state"),
  OrphanReaped: normal(),
  UnexplainedRemoval: blocked("the intent is created again, or the mount is unmounted by hand", "state"),

  // Pods
  ConsumerStillRunning: waiting("kubelet unpublishes the volume of the pod", "state"),
  PodNotListed: waiting("the controller lists the pod in an intent of this node", "state"),
  WaitingForToken: waiting("kubelet passes on the pod's tokens, at its next call", "state"),
  PodMismatch: blocked("the pod and its entry in the intent match", "state"),
  BlockForPods: blocked("the volume has volumeMode: Filesystem, or the pod names another", "state"),
  SubPathMissing: blocked("the directory or file appears in the volume", "backoff"),
  SetNotFound: blocked("the NodeVolumeSet that the pod names is created", "state"),
  SetNotServing: blocked("the set manages its volume, and is not being deleted", "state"),
  NamespaceNotAllowed: blocked("the set's allowedNamespaces name or select the pod's namespace", "state"),
  NodeNotSelected: blocked("the set selects the node, or the pod runs on one that it selects", "state"),
  NodeAffinityConflict: blocked("one node affinity can express the nodes of the pod and of its volumes", "state"),

  // Sets
  AllReady: normal(),
  NoNodesSelected: waiting("the set selects a Node", "state"),
  NoConsumers: normal("the set has a mount"),
  RollingOut: waiting("every selected node has the newest spec", "state"),
  RolloutPaused: blocked("the failing node is repaired, or the NodeVolumeSet is changed", "state"),
  NodesNotReady: waiting("every selected node is ready", "state"),
  Conflict: blocked("no other set uses the same path, or the same volume with other settings", "state"),
  Drifted: waiting("the difference is repaired", "state"),
  InSync: normal(),
  NoConflict: normal(),
  IntentTooLarge: blocked("there are fewer or shorter mounts, or fewer pods", "state"),
  Deleting: waiting("the last node has released the volume", "state"),
  NodeLost: waiting("there is proof that the node no longer uses the volume", "state"),
} satisfies { [code: string]: ReasonInfo };

/** A reason that users can meet. */
export type Reason = keyof typeof reasons;

function normal(endedBy = ""): ReasonInfo {
  return { kind: "normal", endedBy, wakers: [] };
}

function waiting(endedBy: string, ...wakers: [WokenBy, ...WokenBy[]]): ReasonInfo {
  return { kind: "waiting", endedBy, wakers };
}

function blocked(endedBy: string, ...wakers: [WokenBy, ...WokenBy[]]): ReasonInfo {
  return { kind: "blocked", endedBy, wakers };
}

/** Whether somebody must change something before a volume that reports this reason can go on. */
export function isBlocked(reason: string): boolean {
  return isReason(reason) && reasons[reason].kind === "blocked";
}

/** Whether what reports this reason can go on by itself or by somebody else's work. */
export function isWaiting(reason: string): boolean {
  return isReason(reason) && reasons[reason].kind === "waiting";
}

/** Whether the table has this code. */
export function isReason(code: string): code is Reason {
  return Object.hasOwn(reasons, code);
}

/** Who tells that a wait for this reason may be over. */
export function wakersOf(reason: Reason): ReadonlySet<WokenBy> {
  return new Set(reasons[reason].wakers);
}
