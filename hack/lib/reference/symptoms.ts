/** What is seen, in the words of whoever sees it, and the codes that it may have, with blanks between: each that asks something of people is in one. */
export const symptoms: readonly (readonly [seen: string, codes: string])[] = [
  [
    "Nothing happens on a node",
    `NotObserved NotGranted Progressing AgentLost NodeLost RollingOut RolloutPaused JournalFailed
     MountTableUnreadable StaleRead IndexMissing IndexBehind IndexTooLarge Invalid IntentTooLarge
     ProcessLimitReached`,
  ],
  ["A set is not ready, or does not go", "NodesNotReady NoNodesSelected Conflict Deleting Drifted"],
  [
    "A path cannot be mounted on",
    `PathNotAllowed PathConflict ForeignMount ForeignMountInPath TargetCovered TargetNotDirectory
     TargetNotFile TargetMoved TargetChanged DotDotInPath SymlinkInPath NotPropagated`,
  ],
  [
    "A directory, file or device of the node is not there, or not the one that was meant",
    "SourceNotFound SourceWrongType SourceDiffers SourceNotAllowed SubPathMissing",
  ],
  [
    "A disk is not taken, or not mounted",
    `DiskNotFound DiskNotCompared DiskAmbiguous DeviceBusy DeviceNotEmpty FilesystemMissing FilesystemMismatch
     FilesystemUnsupported FormatFailed VolumeGroupFull PassphraseRefused QuotaUnsupported`,
  ],
  [
    "A disk or its file system is damaged",
    "ReadError FilesystemDamaged FilesystemDuplicate FilesystemReadOnly JournalNotReplayed",
  ],
  [
    "A server, share, repository, image or LUN cannot be had",
    `ServerUnreachable ShareNotFound CredentialsRefused RepositoryRefused RevisionNotFound
     ContentRefused ContentTooLarge ImageUnsupported InitiatorNotReady`,
  ],
  [
    "A ConfigMap, Secret, token or field cannot be shown",
    `ConfigMapNotFound ConfigMapAccessDenied SecretNotFound SecretAccessDenied KeyNotFound
     FileConflict NodeNotFound NodeAccessDenied ServiceAccountNotFound TokenAccessDenied
     TrustBundleNotFound TrustBundleAccessDenied ContentUnknown`,
  ],
  [
    "A claim does not come to a node",
    `ClaimNotFound ClaimNotAllowed ClaimNotBound ClaimLost ClaimDeleting ClaimOfOther ClaimMismatch
     PersistentVolumeNotFound VolumeModeMismatch AccessModeMismatch VolumeSourceUnsupported
     NodeAffinityMismatch NeedsScheduler ProvisioningRefusedForNode VolumeTooLarge NotProtected`,
  ],
  [
    "A volume is not attached, or somebody else has it",
    `WaitingForAttach AttachFailed FailedAttachVolume AttachLimitReached AttachNotManaged
     VolumeHeldElsewhere UsedByPods SharedWithKubelet ForeignAttachment Detaching StaleNodeID
     PublishContextTooLarge GrantOutdated`,
  ],
  [
    "A driver does not do what it should",
    `DriverNotOnNode DriverNotRegistered DriverMissing DriverFailed DriverUnavailable DriverBusy
     DriverReplyInvalid DriverReplyFalse DriverMayStillAct LifecycleModeUnsupported PerPodIdentity
     VolumeConditionAbnormal`,
  ],
  [
    "A volume does not grow",
    "VolumeResizeFailed FileSystemResizeFailed ExpansionInfeasible NoWritableMount VolumeInUse",
  ],
  [
    "Its files belong to the wrong group, or have the wrong label",
    `FsGroupConflict VolumePermissionChangeInProgress VolumePermissionChangeRefused PodLacksGroup
     SELinuxConflict SELinuxContextConflict`,
  ],
  [
    "A pod does not start, or does not end",
    `SetNotFound SetNotServing NamespaceNotAllowed NodeNotSelected NodeAffinityConflict PodNotListed
     PodMismatch BlockForPods WaitingForToken WaitingForKubelet CSIDriverWrong ConsumerStillRunning`,
  ],
  [
    "A volume does not go away",
    "Unmounting TargetBusy StillReferenced ForeignMountOnTarget ForeignMountBeneath SwapNeeded",
  ],
  [
    "Something hangs, or fails again and again",
    "NotAnswering TimedOut OperationAbandoned SetUpFailed TearDownFailed ToolMissing OptionsRefused",
  ],
  ["Mounts are there that nobody asks for", "UnexplainedRemoval LeftByKubelet"],
  ["A safeguard is missing", "PolicyMissing"],
];
