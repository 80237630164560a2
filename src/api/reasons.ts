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

export const reasons = {
  // The life of an intent
  NotObserved: { kind: "waiting", endedBy: "the node's agent takes the intent in" },
  NotGranted: { kind: "waiting", endedBy: "the controller writes spec.grant" },
  Progressing: { kind: "waiting", endedBy: "the operation that runs ends" },
  Mounted: { kind: "normal", endedBy: "" },
  InUseAsSwap: { kind: "normal", endedBy: "" },
  Observing: { kind: "normal", endedBy: "" },
  WouldChange: { kind: "normal", endedBy: "mode: Manage, or somebody carries the plan out" },
  WaitingForKubelet: { kind: "waiting", endedBy: "kubelet has mounted the volume for the pod that is named" },
  Suspended: { kind: "normal", endedBy: "suspend is taken back on the set or the Node" },
  Unmounting: { kind: "waiting", endedBy: "the last mount is gone" },
  Released: { kind: "normal", endedBy: "" },
  ReleasedWithoutAcknowledgement: { kind: "normal", endedBy: "" },
  Retained: { kind: "normal", endedBy: "" },
  AgentLost: { kind: "waiting", endedBy: "the agent renews its Lease" },

  // What the agent cannot read or understand
  Invalid: { kind: "blocked", endedBy: "the field named is corrected, or the agent is upgraded" },
  StaleRead: { kind: "waiting", endedBy: "the watch shows a generation that the agent has already seen" },
  IndexMissing: { kind: "blocked", endedBy: "the controller keeps an index, or the agent watches its intents" },
  IndexBehind: { kind: "blocked", endedBy: "a controller that keeps indexes runs, or the agent watches its intents" },
  IndexTooLarge: { kind: "blocked", endedBy: "the node has fewer intents, or the agent watches them" },
  MountTableUnreadable: { kind: "waiting", endedBy: "the kernel's mount table can be read" },
  JournalFailed: { kind: "blocked", endedBy: "the state directory can be written" },

  // Paths and sources
  PathNotAllowed: { kind: "blocked", endedBy: "the path or the allowed prefixes are changed" },
  PathConflict: { kind: "blocked", endedBy: "only one volume wants the path" },
  SourceNotAllowed: { kind: "blocked", endedBy: "the source path is changed" },
  SourceNotFound: { kind: "blocked", endedBy: "the path appears on the node" },
  SourceDiffers: { kind: "blocked", endedBy: "what stood there is back, or the node leaves the set and comes back" },
  SourceWrongType: { kind: "blocked", endedBy: "what stands at the path is of the wanted type" },
  TargetNotDirectory: { kind: "blocked", endedBy: "what stands where a directory must be is moved away" },
  TargetNotFile: { kind: "blocked", endedBy: "the directory that stands where a file must be is moved away" },
  DotDotInPath: { kind: "blocked", endedBy: "the path is given without the segments . and .. in it" },
  SymlinkInPath: { kind: "blocked", endedBy: "the path is given without symbolic links" },
  ForeignMount: { kind: "blocked", endedBy: "the foreign mount is unmounted, or adopt: IfSame takes it over" },
  ForeignMountInPath: { kind: "blocked", endedBy: "the mount between prefix and target is unmounted" },
  TargetMoved: { kind: "blocked", endedBy: "the directory above the target has its name again" },
  NotPropagated: { kind: "blocked", endedBy: "the prefix is shared between the agent and the node" },
  TargetCovered: { kind: "blocked", endedBy: "the mount that covers the target is unmounted" },

  // Devices and file systems
  DeviceBusy: { kind: "blocked", endedBy: "nobody else has the device open, mounted or claimed" },
  DeviceNotEmpty: { kind: "blocked", endedBy: "the device is emptied, or another one is named" },
  DiskNotFound: { kind: "blocked", endedBy: "a disk as the selector asks for is there, and free" },
  DiskNotCompared: { kind: "waiting", endedBy: "the controller says that no other node has the disk" },
  DiskAmbiguous: { kind: "blocked", endedBy: "only one disk is as the selector asks for" },
  FilesystemReadOnly: { kind: "blocked", endedBy: "the file system is checked and staged again" },
  FilesystemMissing: { kind: "blocked", endedBy: "fsType names the file system to make, or one is made by hand" },
  FilesystemMismatch: { kind: "blocked", endedBy: "fsType names the file system that is there" },
  FilesystemUnsupported: {
    kind: "blocked",
    endedBy: "the disk has a file system that is mounted, and the kernel has it",
  },
  FilesystemDuplicate: {
    kind: "blocked",
    endedBy: "the file system with the same UUID is unmounted, or one gets another",
  },
  FilesystemDamaged: { kind: "blocked", endedBy: "the file system is repaired by hand" },
  JournalNotReplayed: { kind: "blocked", endedBy: "the file system was mounted for writing once, and unmounted" },
  ReadError: { kind: "blocked", endedBy: "the device can be read" },
  PassphraseRefused: { kind: "blocked", endedBy: "the Secret has the passphrase that opens the disk" },
  SwapNeeded: { kind: "waiting", endedBy: "the node has the memory to take back what is swapped out" },
  VolumeGroupFull: { kind: "blocked", endedBy: "the volume group has room" },
  ToolMissing: { kind: "blocked", endedBy: "the program named is installed where the agent runs" },
  FormatFailed: { kind: "blocked", endedBy: "the next attempt works" },
  OptionsRefused: { kind: "blocked", endedBy: "the mount options are ones that the kernel takes" },
  QuotaUnsupported: { kind: "blocked", endedBy: "the state directory is on a file system that keeps project quotas" },
  ShareNotFound: { kind: "blocked", endedBy: "the server has what the source names" },
  ImageUnsupported: { kind: "blocked", endedBy: "the image's features are changed, or the node has a newer kernel" },
  CredentialsRefused: { kind: "blocked", endedBy: "the Secret has a user and a password that the server lets in" },
  InitiatorNotReady: {
    kind: "blocked",
    endedBy: "the node has open-iscsi, its iscsid runs, and it has the interface that is named",
  },
  ServerUnreachable: { kind: "waiting", endedBy: "the server answers" },

  // Content that is fetched
  RepositoryRefused: { kind: "blocked", endedBy: "the address named is a repository that the node may read" },
  RevisionNotFound: { kind: "blocked", endedBy: "the server gives out the commit or image that is named" },
  ContentRefused: { kind: "blocked", endedBy: "a commit or image is named that has nothing in it that could do harm" },
  ContentTooLarge: { kind: "blocked", endedBy: "sizeLimit is raised, or something smaller is named" },

  // Objects whose content is mounted
  ConfigMapNotFound: { kind: "blocked", endedBy: "the ConfigMap is created" },
  SecretNotFound: { kind: "blocked", endedBy: "the Secret is created" },
  KeyNotFound: { kind: "blocked", endedBy: "the object has the key" },
  ConfigMapAccessDenied: { kind: "blocked", endedBy: "a Role lets the agent read the ConfigMap" },
  SecretAccessDenied: { kind: "blocked", endedBy: "a Role lets the agent read the Secret" },
  FileConflict: { kind: "blocked", endedBy: "no source of the volume has a file where another has a directory" },
  NodeNotFound: { kind: "waiting", endedBy: "the Node object is there" },
  NodeAccessDenied: { kind: "blocked", endedBy: "a ClusterRole lets the agent read Nodes" },
  ServiceAccountNotFound: { kind: "blocked", endedBy: "the ServiceAccount is created" },
  TokenAccessDenied: { kind: "blocked", endedBy: "a Role lets the agent create tokens of the ServiceAccount" },
  TrustBundleNotFound: { kind: "blocked", endedBy: "the ClusterTrustBundle is created, and served" },
  TrustBundleAccessDenied: { kind: "blocked", endedBy: "a ClusterRole lets the agent read ClusterTrustBundles" },
  ContentUnknown: { kind: "waiting", endedBy: "the API server answers with the object" },

  // Volumes that are attached, and claims
  WaitingForAttach: { kind: "waiting", endedBy: "the driver has attached the volume to the node" },
  AttachFailed: { kind: "waiting", endedBy: "the driver's next attempt to attach works" },
  Detaching: { kind: "waiting", endedBy: "the VolumeAttachment that is being deleted is gone" },
  VolumeHeldElsewhere: { kind: "waiting", endedBy: "the node that is named has released the volume" },
  ForeignAttachment: { kind: "waiting", endedBy: "the VolumeAttachment of another is gone" },
  UsedByPods: { kind: "waiting", endedBy: "the pods that are named have ended" },
  SharedWithKubelet: { kind: "waiting", endedBy: "the pod that is named has ended" },
  AttachLimitReached: { kind: "waiting", endedBy: "fewer volumes of the driver are attached to the node" },
  DriverNotOnNode: { kind: "waiting", endedBy: "the driver is registered on the node: its CSINode names it" },
  NotProtected: { kind: "blocked", endedBy: "the API server takes the finalizer" },
  AttachNotManaged: {
    kind: "blocked",
    endedBy: "a controller attaches volumes to the node, or the driver attaches nothing",
  },
  StaleNodeID: {
    kind: "blocked",
    endedBy: "the VolumeAttachment is deleted by somebody who has made sure that the old machine is off",
  },
  PublishContextTooLarge: { kind: "blocked", endedBy: "the driver's attachmentMetadata is at most 4 KiB" },
  VolumeTooLarge: { kind: "blocked", endedBy: "the PersistentVolume's attributes are few and short enough" },
  ClaimNotFound: { kind: "blocked", endedBy: "the claim is created" },
  ClaimNotAllowed: { kind: "blocked", endedBy: "the claim has the label that allows the set" },
  ClaimNotBound: { kind: "waiting", endedBy: "the claim is bound to a PersistentVolume" },
  ClaimLost: { kind: "blocked", endedBy: "the claim's PersistentVolume is back, or the claim is made anew" },
  ClaimDeleting: { kind: "blocked", endedBy: "the claim is gone, and another one is made" },
  SELinuxConflict: { kind: "blocked", endedBy: "the pods that share the volume have one SELinux level" },
  PodLacksGroup: { kind: "blocked", endedBy: "the pod is made anew with the group in supplementalGroups" },
  ClaimOfOther: { kind: "blocked", endedBy: "the claim is gone, so that the pod gets one of its own" },
  ClaimMismatch: { kind: "blocked", endedBy: "claim and PersistentVolume name each other" },
  PersistentVolumeNotFound: { kind: "blocked", endedBy: "the PersistentVolume is there" },
  VolumeModeMismatch: { kind: "blocked", endedBy: "volumeMode of the set is that of the claim" },
  AccessModeMismatch: { kind: "blocked", endedBy: "the claim's access modes allow what is asked for" },
  VolumeSourceUnsupported: { kind: "blocked", endedBy: "the claim has a PersistentVolume of a CSI driver" },
  NodeAffinityMismatch: { kind: "blocked", endedBy: "the set selects nodes that the PersistentVolume can be used on" },
  NeedsScheduler: { kind: "blocked", endedBy: "exactly one node wants the claim" },
  ProvisioningRefusedForNode: { kind: "waiting", endedBy: "the provisioner takes the node" },
  PolicyMissing: { kind: "blocked", endedBy: "config/policy is applied" },
  LifecycleModeUnsupported: { kind: "blocked", endedBy: "the set names a volume of a driver that lists Persistent" },
  PerPodIdentity: {
    kind: "blocked",
    endedBy: "pods alone use the volume, and kubelet hands over what its driver needs of them",
  },

  // The driver for pods
  CSIDriverWrong: { kind: "blocked", endedBy: "the CSIDriver csi.nodevolume.dev is as config/ has it" },

  // Events of volumes that are attached and grow, in kubelet's words
  SuccessfulAttachVolume: { kind: "normal", endedBy: "" },
  SuccessfulDetachVolume: { kind: "normal", endedBy: "" },
  FailedAttachVolume: { kind: "waiting", endedBy: "the driver's next attempt to attach works" },
  FileSystemResizeSuccessful: { kind: "normal", endedBy: "" },
  FileSystemResizeFailed: { kind: "waiting", endedBy: "a mount of the volume on the node may be written to" },
  VolumeResizeFailed: { kind: "waiting", endedBy: "the driver grows the volume, or another size is asked for" },

  // CSI drivers on the node
  DriverNotRegistered: {
    kind: "waiting",
    endedBy: "the driver registers with the plugin registration directory of the node",
  },
  DriverFailed: { kind: "waiting", endedBy: "the driver's next answer is OK" },
  DriverUnavailable: { kind: "waiting", endedBy: "the driver answers" },
  DriverBusy: { kind: "waiting", endedBy: "the driver has ended what it does for the volume" },
  DriverReplyInvalid: { kind: "waiting", endedBy: "the driver answers what the CSI specification asks for" },
  DriverMissing: { kind: "blocked", endedBy: "the driver's program is installed on the node" },
  DriverReplyFalse: { kind: "waiting", endedBy: "the mount table shows what the driver says" },
  DriverMayStillAct: {
    kind: "waiting",
    endedBy: "the time is over in which a call that timed out may still take effect",
  },
  VolumeInUse: { kind: "waiting", endedBy: "the volume is set up anew on the node" },
  NoWritableMount: { kind: "waiting", endedBy: "a mount of the volume on the node may be written to" },
  FsGroupConflict: { kind: "blocked", endedBy: "all mounts of the volume on the node ask for one group" },
  GrantOutdated: { kind: "blocked", endedBy: "the volume is granted anew" },
  SELinuxContextConflict: { kind: "blocked", endedBy: "all mounts of the volume on the node ask for one label" },
  VolumePermissionChangeInProgress: { kind: "waiting", endedBy: "the last file of the volume is its group's" },
  VolumePermissionChangeRefused: { kind: "blocked", endedBy: "the file system lets the node's root change its files" },
  VolumeConditionAbnormal: { kind: "waiting", endedBy: "the driver says that the volume is well" },
  VolumeConditionNormal: { kind: "normal", endedBy: "" },
  ExpansionInfeasible: { kind: "blocked", endedBy: "another size is asked for" },

  // Set-up, change and removal that failed
  SetUpFailed: { kind: "waiting", endedBy: "the next attempt works" },
  TearDownFailed: { kind: "waiting", endedBy: "the next attempt works" },
  TargetBusy: { kind: "waiting", endedBy: "what uses the mount lets it go" },
  StillReferenced: { kind: "waiting", endedBy: "no mount namespace of the node holds the volume" },
  ForeignMountOnTarget: { kind: "blocked", endedBy: "the mount over ours is unmounted" },
  ForeignMountBeneath: { kind: "blocked", endedBy: "ours and the mount beneath it are unmounted by hand" },
  TargetChanged: { kind: "waiting", endedBy: "the next attempt finds the path at rest" },
  NotAnswering: { kind: "waiting", endedBy: "the server or device answers, or the deadline is over" },
  TimedOut: { kind: "waiting", endedBy: "the next attempt works" },
  OperationAbandoned: { kind: "waiting", endedBy: "the kernel lets go of the process that hangs" },
  ProcessLimitReached: { kind: "waiting", endedBy: "a process of the agent ends" },
  LeftByKubelet: { kind: "blocked", endedBy: "somebody removes what is left, or kubelet does" },
  OrphanReaped: { kind: "normal", endedBy: "" },
  UnexplainedRemoval: { kind: "blocked", endedBy: "the intent is created again, or the mount is unmounted by hand" },

  // Pods
  ConsumerStillRunning: { kind: "waiting", endedBy: "kubelet gives the target of the pod back" },
  PodNotListed: { kind: "waiting", endedBy: "the controller names the pod in an intent of this node" },
  WaitingForToken: { kind: "waiting", endedBy: "kubelet hands over the pod's tokens, at its next call" },
  PodMismatch: { kind: "blocked", endedBy: "the pod asks for what the intent says of it" },
  BlockForPods: { kind: "blocked", endedBy: "the volume has volumeMode: Filesystem, or the pod names another" },
  SubPathMissing: { kind: "blocked", endedBy: "the directory or file appears in the volume" },
  SetNotFound: { kind: "blocked", endedBy: "the NodeVolumeSet that the pod names is created" },
  SetNotServing: { kind: "blocked", endedBy: "the set manages its volume, and is not being deleted" },
  NamespaceNotAllowed: { kind: "blocked", endedBy: "the set's allowedNamespaces name or select the pod's namespace" },
  NodeNotSelected: { kind: "blocked", endedBy: "the set selects the node, or the pod runs on one that it selects" },
  NodeAffinityConflict: { kind: "blocked", endedBy: "the pod's nodes and those of its volumes can be said in one" },

  // Sets
  AllReady: { kind: "normal", endedBy: "" },
  NoNodesSelected: { kind: "waiting", endedBy: "the set selects a Node" },
  NoConsumers: { kind: "normal", endedBy: "the set has a mount" },
  RollingOut: { kind: "waiting", endedBy: "every selected node has the newest spec" },
  RolloutPaused: { kind: "blocked", endedBy: "the node that fails is mended, or the set is changed" },
  NodesNotReady: { kind: "waiting", endedBy: "every selected node is ready" },
  Conflict: { kind: "blocked", endedBy: "no other set wants the same path, or the same volume with other settings" },
  Drifted: { kind: "waiting", endedBy: "the difference is repaired" },
  InSync: { kind: "normal", endedBy: "" },
  NoConflict: { kind: "normal", endedBy: "" },
  IntentTooLarge: { kind: "blocked", endedBy: "fewer or shorter mounts, or fewer pods" },
  Deleting: { kind: "waiting", endedBy: "the last node has released the volume" },
  NodeLost: { kind: "waiting", endedBy: "a proof that the node holds nothing" },
} as const satisfies { [code: string]: ReasonInfo };

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
