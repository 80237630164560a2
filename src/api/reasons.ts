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
}

/**
 * Every reason that a status, condition or Event may have: how it ends, and by what. docs/reasons.md has an entry for
 * each.
 */
export const reasons = {
  // The life of an intent
  NotObserved: { kind: "waiting", endedBy: "the node's agent reads the intent" },
  NotGranted: { kind: "waiting", endedBy: "the controller writes spec.grant" },
  Progressing: { kind: "waiting", endedBy: "the running operation ends" },
  Mounted: { kind: "normal", endedBy: "" },
  InUseAsSwap: { kind: "normal", endedBy: "" },
  Observing: { kind: "normal", endedBy: "" },
  WouldChange: { kind: "normal", endedBy: "the set gets mode: Manage, or somebody applies the plan by hand" },
  WaitingForKubelet: { kind: "waiting", endedBy: "kubelet has mounted the volume for the named pod" },
  Suspended: { kind: "normal", endedBy: "suspend is removed from the set or the Node" },
  Unmounting: { kind: "waiting", endedBy: "the last mount is gone" },
  Released: { kind: "normal", endedBy: "" },
  ReleasedWithoutAcknowledgement: { kind: "normal", endedBy: "" },
  Retained: { kind: "normal", endedBy: "" },
  AgentLate: { kind: "waiting", endedBy: "the agent renews its Lease" },
  AgentLost: { kind: "waiting", endedBy: "the agent renews its Lease" },
  AgentLive: { kind: "normal", endedBy: "" },

  // What the agent cannot read or understand
  Invalid: { kind: "blocked", endedBy: "the named field is corrected, or the agent or controller is upgraded" },
  StaleRead: { kind: "waiting", endedBy: "the watch shows a generation that the agent has already seen" },
  IndexMissing: { kind: "blocked", endedBy: "the controller keeps an index, or the agent watches its intents" },
  IndexBehind: { kind: "blocked", endedBy: "a controller that keeps indexes runs, or the agent watches its intents" },
  IndexTooLarge: { kind: "blocked", endedBy: "the node has fewer intents, or the agent watches them" },
  MountTableUnreadable: { kind: "waiting", endedBy: "the kernel's mount table can be read" },
  JournalFailed: { kind: "blocked", endedBy: "the state directory can be written" },

  // Paths and sources
  PathNotAllowed: { kind: "blocked", endedBy: "the path or the allowed prefixes are changed" },
  PathConflict: { kind: "blocked", endedBy: "only one volume uses the path" },
  SourceNotAllowed: { kind: "blocked", endedBy: "the source path is changed" },
  SourceNotFound: { kind: "blocked", endedBy: "the path appears on the node" },
  SourceDiffers: {
    kind: "blocked",
    endedBy: "the former source is back, or the node is taken out of the set and back in",
  },
  SourceWrongType: { kind: "blocked", endedBy: "the file at the path has the type that the set requires" },
  TargetNotDirectory: { kind: "blocked", endedBy: "the file in the place of a directory is moved away" },
  TargetNotFile: { kind: "blocked", endedBy: "the directory in the place of a file is moved away" },
  DotDotInPath: { kind: "blocked", endedBy: "the path has no segments . and .. any more" },
  SymlinkInPath: { kind: "blocked", endedBy: "the path has no symbolic links any more" },
  ForeignMount: { kind: "blocked", endedBy: "the foreign mount is unmounted, or adopted by adopt: IfSame" },
  ForeignMountInPath: { kind: "blocked", endedBy: "the mount between the prefix and the target is unmounted" },
  TargetMoved: { kind: "blocked", endedBy: "the directory above the target has its former name again" },
  NotPropagated: { kind: "blocked", endedBy: "the prefix is shared between the agent and the node" },
  TargetCovered: { kind: "blocked", endedBy: "the mount that covers the target is unmounted" },

  // Devices and file systems
  DeviceBusy: { kind: "blocked", endedBy: "no other user has the device open, mounted or claimed" },
  DeviceNotEmpty: { kind: "blocked", endedBy: "the device is emptied, or another one is named" },
  DiskNotFound: { kind: "blocked", endedBy: "a free disk matches the selector" },
  DiskNotCompared: { kind: "waiting", endedBy: "the controller confirms that nobody else uses the disk" },
  DiskAmbiguous: { kind: "blocked", endedBy: "only one disk matches the selector" },
  FilesystemReadOnly: { kind: "blocked", endedBy: "the file system is checked and staged again" },
  FilesystemMissing: { kind: "blocked", endedBy: "fsType names the file system to make, or one is made by hand" },
  FilesystemMismatch: { kind: "blocked", endedBy: "fsType names the existing file system" },
  FilesystemUnsupported: {
    kind: "blocked",
    endedBy: "the disk has a supported file system, and the kernel has its module",
  },
  FilesystemDuplicate: {
    kind: "blocked",
    endedBy: "the file system with the same UUID is unmounted, or one gets another",
  },
  FilesystemDamaged: { kind: "blocked", endedBy: "the file system is repaired by hand" },
  JournalNotReplayed: { kind: "blocked", endedBy: "the file system was mounted once with write access, and unmounted" },
  ReadError: { kind: "blocked", endedBy: "the device can be read" },
  PassphraseRefused: { kind: "blocked", endedBy: "the Secret has the passphrase that opens the disk" },
  SwapNeeded: { kind: "waiting", endedBy: "the node has enough free memory to turn the swap off" },
  VolumeGroupFull: { kind: "blocked", endedBy: "the volume group has enough free space" },
  ToolMissing: { kind: "blocked", endedBy: "the named program is installed where the agent runs" },
  FormatFailed: { kind: "blocked", endedBy: "mkfs succeeds at the next attempt" },
  OptionsRefused: { kind: "blocked", endedBy: "the kernel accepts the mount options" },
  QuotaUnsupported: { kind: "blocked", endedBy: "the file system of the agent's state directory keeps project quotas" },
  ShareNotFound: {
    kind: "blocked",
    endedBy: "the server has the share, directory, image or target that the source names",
  },
  ImageUnsupported: { kind: "blocked", endedBy: "the image's features are changed, or the node has a newer kernel" },
  CredentialsRefused: { kind: "blocked", endedBy: "the Secret has a user and a password that the server accepts" },
  InitiatorNotReady: {
    kind: "blocked",
    endedBy: "the node has open-iscsi and the named interface, and iscsid runs",
  },
  ServerUnreachable: { kind: "waiting", endedBy: "the server answers" },

  // Content that is fetched
  RepositoryRefused: { kind: "blocked", endedBy: "the address leads to a repository that the node may read" },
  RevisionNotFound: { kind: "blocked", endedBy: "the server has the named commit or image" },
  ContentRefused: { kind: "blocked", endedBy: "the set names a commit or image without harmful content" },
  ContentTooLarge: { kind: "blocked", endedBy: "sizeLimit is raised, or the set names something smaller" },

  // Objects whose content is mounted
  ConfigMapNotFound: { kind: "blocked", endedBy: "the ConfigMap is created" },
  SecretNotFound: { kind: "blocked", endedBy: "the Secret is created" },
  KeyNotFound: { kind: "blocked", endedBy: "the object has the key" },
  ConfigMapAccessDenied: { kind: "blocked", endedBy: "a Role lets the agent read the ConfigMap" },
  SecretAccessDenied: { kind: "blocked", endedBy: "a Role lets the agent read the Secret" },
  FileConflict: { kind: "blocked", endedBy: "no source of the volume has a file where another has a directory" },
  NodeNotFound: { kind: "waiting", endedBy: "the Node object exists again" },
  NodeAccessDenied: { kind: "blocked", endedBy: "a ClusterRole lets the agent read Nodes" },
  ServiceAccountNotFound: { kind: "blocked", endedBy: "the ServiceAccount is created" },
  TokenAccessDenied: { kind: "blocked", endedBy: "a Role lets the agent create tokens of the ServiceAccount" },
  TrustBundleNotFound: {
    kind: "blocked",
    endedBy: "the ClusterTrustBundle exists, and the API server serves its kind",
  },
  TrustBundleAccessDenied: { kind: "blocked", endedBy: "a ClusterRole lets the agent read ClusterTrustBundles" },
  ContentUnknown: { kind: "waiting", endedBy: "the API server returns the object" },

  // Volumes that are attached, and claims
  WaitingForAttach: { kind: "waiting", endedBy: "the driver has attached the volume to the node" },
  AttachFailed: { kind: "waiting", endedBy: "the driver attaches the volume at its next attempt" },
  Detaching: { kind: "waiting", endedBy: "the VolumeAttachment that is being deleted is gone" },
  VolumeHeldElsewhere: { kind: "waiting", endedBy: "the named node has released the volume" },
  ForeignAttachment: { kind: "waiting", endedBy: "the VolumeAttachment of kube-controller-manager is gone" },
  UsedByPods: { kind: "waiting", endedBy: "the named pods have ended" },
  SharedWithKubelet: { kind: "waiting", endedBy: "the named pod has ended" },
  AttachLimitReached: { kind: "waiting", endedBy: "fewer volumes of the driver are attached to the node" },
  DriverNotOnNode: { kind: "waiting", endedBy: "the driver is registered on the node: its CSINode lists it" },
  NotProtected: { kind: "blocked", endedBy: "the API server accepts the finalizer" },
  AttachNotManaged: {
    kind: "blocked",
    endedBy: "a controller attaches volumes to the node, or the driver attaches nothing",
  },
  StaleNodeID: {
    kind: "blocked",
    endedBy: "somebody makes sure that the old machine is off, and deletes the VolumeAttachment",
  },
  PublishContextTooLarge: { kind: "blocked", endedBy: "the driver's attachmentMetadata is at most 4 KiB" },
  VolumeTooLarge: { kind: "blocked", endedBy: "the PersistentVolume's attributes are few and short enough" },
  ClaimNotFound: { kind: "blocked", endedBy: "the claim is created" },
  ClaimNotAllowed: { kind: "blocked", endedBy: "the claim has the label that allows the set" },
  ClaimNotBound: { kind: "waiting", endedBy: "the claim is bound to a PersistentVolume" },
  ClaimLost: { kind: "blocked", endedBy: "the claim's PersistentVolume is restored, or the claim is created again" },
  ClaimDeleting: { kind: "blocked", endedBy: "the claim is gone, and another one is created" },
  SELinuxConflict: { kind: "blocked", endedBy: "the pods that share the volume have one SELinux level" },
  PodLacksGroup: { kind: "blocked", endedBy: "the pod is created again with the group in supplementalGroups" },
  ClaimOfOther: { kind: "blocked", endedBy: "the claim is gone, so that the pod gets its own" },
  ClaimMismatch: { kind: "blocked", endedBy: "claim and PersistentVolume name each other" },
  PersistentVolumeNotFound: { kind: "blocked", endedBy: "the PersistentVolume exists" },
  VolumeModeMismatch: { kind: "blocked", endedBy: "the set has the claim's volumeMode" },
  AccessModeMismatch: { kind: "blocked", endedBy: "the claim's access modes allow its use" },
  VolumeSourceUnsupported: { kind: "blocked", endedBy: "the claim has a PersistentVolume of a CSI driver" },
  NodeAffinityMismatch: {
    kind: "blocked",
    endedBy: "the set selects only nodes that the PersistentVolume's nodeAffinity allows",
  },
  NeedsScheduler: { kind: "blocked", endedBy: "exactly one node uses the claim" },
  ProvisioningRefusedForNode: { kind: "waiting", endedBy: "the provisioner accepts the node" },
  PolicyMissing: { kind: "blocked", endedBy: "config/policy is applied" },
  LifecycleModeUnsupported: { kind: "blocked", endedBy: "the set names a volume of a driver that lists Persistent" },
  PerPodIdentity: {
    kind: "blocked",
    endedBy: "only pods use the volume, and kubelet passes on the pod identity that its driver needs",
  },

  // The driver for pods
  CSIDriverWrong: { kind: "blocked", endedBy: "the CSIDriver csi.nodevolume.dev matches config/" },

  // Events of volumes that are attached and grow, in kubelet's words
  SuccessfulAttachVolume: { kind: "normal", endedBy: "" },
  SuccessfulDetachVolume: { kind: "normal", endedBy: "" },
  FailedAttachVolume: { kind: "waiting", endedBy: "the driver attaches the volume at its next attempt" },
  FileSystemResizeSuccessful: { kind: "normal", endedBy: "" },
  FileSystemResizeFailed: { kind: "waiting", endedBy: "the node has a writable mount of the volume" },
  VolumeResizeFailed: { kind: "waiting", endedBy: "the driver expands the volume, or another size is requested" },

  // CSI drivers on the node
  DriverNotRegistered: {
    kind: "waiting",
    endedBy: "the driver registers in the plugin registration directory of the node",
  },
  DriverFailed: { kind: "waiting", endedBy: "the driver answers a call with OK" },
  DriverUnavailable: { kind: "waiting", endedBy: "the driver answers" },
  DriverBusy: { kind: "waiting", endedBy: "the driver has ended its running operation" },
  DriverReplyInvalid: { kind: "waiting", endedBy: "the driver's answer follows the CSI specification" },
  DriverMissing: { kind: "blocked", endedBy: "the driver's program is installed on the node" },
  DriverReplyFalse: { kind: "waiting", endedBy: "the mount table confirms the driver's answer" },
  DriverMayStillAct: {
    kind: "waiting",
    endedBy: "a call that timed out can no longer take effect",
  },
  VolumeInUse: { kind: "waiting", endedBy: "the volume is staged again on the node" },
  NoWritableMount: { kind: "waiting", endedBy: "the node has a writable mount of the volume" },
  FsGroupConflict: { kind: "blocked", endedBy: "all mounts of the volume on the node specify one group" },
  GrantOutdated: { kind: "blocked", endedBy: "the controller grants the volume again" },
  SELinuxContextConflict: { kind: "blocked", endedBy: "all mounts of the volume on the node specify one label" },
  VolumePermissionChangeInProgress: { kind: "waiting", endedBy: "every file of the volume has its group" },
  VolumePermissionChangeRefused: {
    kind: "blocked",
    endedBy: "the file system lets the node's root user change its files",
  },
  VolumeConditionAbnormal: { kind: "waiting", endedBy: "the driver reports that the volume is healthy" },
  VolumeConditionNormal: { kind: "normal", endedBy: "" },
  ExpansionInfeasible: { kind: "blocked", endedBy: "another size is requested" },

  // Set-up, change and removal that failed
  SetUpFailed: { kind: "waiting", endedBy: "the next attempt succeeds" },
  TearDownFailed: { kind: "waiting", endedBy: "the next attempt succeeds" },
  TargetBusy: { kind: "waiting", endedBy: "no process or mount uses the mount any more" },
  StillReferenced: { kind: "waiting", endedBy: "no mount namespace of the node has a mount of the volume" },
  ForeignMountOnTarget: { kind: "blocked", endedBy: "the foreign mount on top of the volume's mount is unmounted" },
  ForeignMountBeneath: {
    kind: "blocked",
    endedBy: "the volume's mount and the foreign mount beneath it are unmounted by hand",
  },
  TargetChanged: { kind: "waiting", endedBy: "the path does not change during an attempt" },
  NotAnswering: { kind: "waiting", endedBy: "the server or device answers, or the step times out" },
  TimedOut: { kind: "waiting", endedBy: "the next attempt succeeds" },
  OperationAbandoned: { kind: "waiting", endedBy: "the kernel releases the hung process" },
  ProcessLimitReached: { kind: "waiting", endedBy: "another process of the agent ends" },
  LeftByKubelet: { kind: "blocked", endedBy: "somebody removes the leftover, or kubelet does" },
  OrphanReaped: { kind: "normal", endedBy: "" },
  UnexplainedRemoval: { kind: "blocked", endedBy: "the intent is created again, or the mount is unmounted by hand" },

  // Pods
  ConsumerStillRunning: { kind: "waiting", endedBy: "kubelet unpublishes the volume of the pod" },
  PodNotListed: { kind: "waiting", endedBy: "the controller lists the pod in an intent of this node" },
  WaitingForToken: { kind: "waiting", endedBy: "kubelet passes on the pod's tokens, at its next call" },
  PodMismatch: { kind: "blocked", endedBy: "the pod and its entry in the intent match" },
  BlockForPods: { kind: "blocked", endedBy: "the volume has volumeMode: Filesystem, or the pod names another" },
  SubPathMissing: { kind: "blocked", endedBy: "the directory or file appears in the volume" },
  SetNotFound: { kind: "blocked", endedBy: "the NodeVolumeSet that the pod names is created" },
  SetNotServing: { kind: "blocked", endedBy: "the set manages its volume, and is not being deleted" },
  NamespaceNotAllowed: { kind: "blocked", endedBy: "the set's allowedNamespaces name or select the pod's namespace" },
  NodeNotSelected: { kind: "blocked", endedBy: "the set selects the node, or the pod runs on one that it selects" },
  NodeAffinityConflict: {
    kind: "blocked",
    endedBy: "one node affinity can express the nodes of the pod and of its volumes",
  },

  // Sets
  AllReady: { kind: "normal", endedBy: "" },
  NoNodesSelected: { kind: "waiting", endedBy: "the set selects a Node" },
  NoConsumers: { kind: "normal", endedBy: "the set has a mount" },
  RollingOut: { kind: "waiting", endedBy: "every selected node has the newest spec" },
  RolloutPaused: { kind: "blocked", endedBy: "the failing node is repaired, or the NodeVolumeSet is changed" },
  NodesNotReady: { kind: "waiting", endedBy: "every selected node is ready" },
  Conflict: { kind: "blocked", endedBy: "no other set uses the same path, or the same volume with other settings" },
  Drifted: { kind: "waiting", endedBy: "the difference is repaired" },
  InSync: { kind: "normal", endedBy: "" },
  NoConflict: { kind: "normal", endedBy: "" },
  IntentTooLarge: { kind: "blocked", endedBy: "there are fewer or shorter mounts, or fewer pods" },
  Deleting: { kind: "waiting", endedBy: "the last node has released the volume" },
  NodeLost: { kind: "waiting", endedBy: "there is proof that the node no longer uses the volume" },
} as const satisfies { [code: string]: ReasonInfo };

/** A reason that users can meet. */
export type Reason = keyof typeof reasons;

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
