/**
 * Symptoms in the words of whoever sees them, and the codes of each, between blanks. Each code that needs an action has
 * one.
 */
export const symptoms: readonly (readonly [seen: string, codes: string])[] = [
  [
    "Nothing happens on a node",
    `NotObserved NotGranted Progressing AgentLate AgentLost NodeLost RollingOut RolloutPaused JournalFailed
     MountTableUnreadable StaleRead IndexMissing IndexBehind IndexTooLarge Invalid IntentTooLarge
     ProcessLimitReached`,
  ],
  ["A set is not ready, or is not deleted", "NodesNotReady NoNodesSelected Conflict Deleting Drifted"],
  [
    "A path cannot be mounted on",
    `PathNotAllowed PathConflict ForeignMount ForeignMountInPath TargetCovered TargetNotDirectory
     TargetNotFile TargetMoved TargetChanged DotDotInPath SymlinkInPath NotPropagated`,
  ],
  [
    "A directory, file or device of the node is missing, or is not the expected one",
    "SourceNotFound SourceWrongType SourceDiffers SourceNotAllowed SubPathMissing",
  ],
  [
    "A disk is not chosen, or not mounted",
    `DiskNotFound DiskNotCompared DiskAmbiguous DeviceBusy DeviceNotEmpty FilesystemMissing FilesystemMismatch
     FilesystemUnsupported FormatFailed VolumeGroupFull PassphraseRefused QuotaUnsupported`,
  ],
  [
    "A disk or its file system is damaged",
    "ReadError FilesystemDamaged FilesystemDuplicate FilesystemReadOnly JournalNotReplayed",
  ],
  [
    "A server, share, repository, image or LUN is unavailable",
    `ServerUnreachable ShareNotFound CredentialsRefused RepositoryRefused RevisionNotFound
     ContentRefused ContentTooLarge ImageUnsupported InitiatorNotReady`,
  ],
  [
    "A ConfigMap, Secret, token or field is not mounted",
    `ConfigMapNotFound ConfigMapAccessDenied SecretNotFound SecretAccessDenied KeyNotFound
     FileConflict NodeNotFound NodeAccessDenied ServiceAccountNotFound TokenAccessDenied
     TrustBundleNotFound TrustBundleAccessDenied ContentUnknown`,
  ],
  [
    "A PVC is not mounted on a node",
    `ClaimNotFound ClaimNotAllowed ClaimNotBound ClaimLost ClaimDeleting ClaimOfOther ClaimMismatch
     PersistentVolumeNotFound VolumeModeMismatch AccessModeMismatch VolumeSourceUnsupported
     NodeAffinityMismatch NeedsScheduler ProvisioningRefusedForNode VolumeTooLarge NotProtected`,
  ],
  [
    "A volume is not attached, or is in use elsewhere",
    `WaitingForAttach AttachFailed FailedAttachVolume AttachLimitReached AttachNotManaged
     VolumeHeldElsewhere UsedByPods SharedWithKubelet ForeignAttachment Detaching StaleNodeID
     PublishContextTooLarge GrantOutdated`,
  ],
  [
    "A driver fails, or is missing",
    `DriverNotOnNode DriverNotRegistered DriverMissing DriverFailed DriverUnavailable DriverBusy
     DriverReplyInvalid DriverReplyFalse DriverMayStillAct LifecycleModeUnsupported PerPodIdentity
     VolumeConditionAbnormal`,
  ],
  [
    "A volume does not grow",
    "VolumeResizeFailed FileSystemResizeFailed ExpansionInfeasible NoWritableMount VolumeInUse",
  ],
  [
    "Files have the wrong group or SELinux label",
    `FsGroupConflict VolumePermissionChangeInProgress VolumePermissionChangeRefused PodLacksGroup
     SELinuxConflict SELinuxContextConflict`,
  ],
  [
    "A pod does not start, or does not terminate",
    `SetNotFound SetNotServing NamespaceNotAllowed NodeNotSelected NodeAffinityConflict PodNotListed
     PodMismatch AccessModeMismatch SubPathMissing FsGroupConflict BlockForPods WaitingForToken WaitingForKubelet
     CSIDriverWrong ConsumerStillRunning`,
  ],
  [
    "A volume is not unmounted",
    "Unmounting TargetBusy StillReferenced ForeignMountOnTarget ForeignMountBeneath SwapNeeded",
  ],
  [
    "Something hangs, or fails repeatedly",
    "NotAnswering TimedOut OperationAbandoned SetUpFailed TearDownFailed ToolMissing OptionsRefused",
  ],
  ["A node has unexpected mounts", "UnexplainedRemoval LeftByKubelet"],
  ["A safeguard is missing", "PolicyMissing"],
];
