import { driftTexts } from "../api/drift-texts.ts";
import type { Reason } from "../api/reasons.ts";
import { shellWord } from "../api/values/printable.ts";
import type { StepNames } from "./step-names.ts";

const agentPods = "kubectl -n nodevolume-system get pods -o wide --field-selector spec.nodeName={node}";
/** Of each replica: `logs deploy/…` shows one, which may not lead. */
export const controllerLog =
  "kubectl -n nodevolume-system logs -l app.kubernetes.io/component=controller --prefix --tail=50";
const asAgent = "--as system:serviceaccount:nodevolume-system:nodevolume-agent";

/**
 * What to do about a reason: at most two lines of explain, in words of their own, with names in braces. docs/reasons.md
 * has the rest, at the anchor of the reason. Each reason that asks something of people has one.
 */
export const nextSteps: { readonly [reason in Reason]?: string } = {
  NotObserved: `If it stays, check that the node's agent runs: ${agentPods}`,
  NotGranted: `If it stays, read why the controller does not grant it: ${controllerLog}`,
  Progressing: "Nothing to do. See how far it is: kubectl describe nvi {intent}",
  WouldChange: "To apply the plan, set mode: Manage on the set {set}. See the plan: kubectl nvi plan {node}",
  WaitingForKubelet: "If it stays, read the pod's events: kubectl -n {namespace} describe pod {pod}",
  Suspended: `To continue: kubectl patch nvs {set} --type merge -p '{"spec":{"suspend":false}}', or remove the Node's label nodevolume.dev/suspend`,
  Unmounting: "If it stays, read what holds it: kubectl nvi explain {node}/{volume}. Do not remove the finalizer.",
  Retained: "To end it, unmount it on {node}: umount {path}. To manage it again, create the set again.",
  AgentLate: `Check that {node} is up and its agent runs: ${agentPods}`,
  AgentLost: `Check that {node} is up and its agent runs: ${agentPods}. Mounts stay; a deletion waits until then.`,
  ReleasedWithoutAcknowledgement: "Make sure that {node} is off: nothing proves that it has unmounted the volume.",

  Invalid: "Correct the field that is named. A field that is not understood needs a newer agent or controller.",
  StaleRead:
    "After a restore of etcd, change the set's spec until the generation has caught up: kubectl get nvi {intent} -o yaml",
  IndexMissing: "Apply config/components/index, or set NODEVOLUME_INTENTS=Watch for the agents.",
  IndexBehind: `Check that the controller runs and keeps indexes: ${controllerLog}`,
  IndexTooLarge: "Remove volumes from {node}, or start its agent with --intents=Watch.",
  MountTableUnreadable: `Read the agent's log for the cause; find its pod: ${agentPods}`,
  JournalFailed: "Make the agent's state directory on {node} writable: df -h /var/lib/nodevolume",

  PathNotAllowed:
    "Change the path: kubectl edit nvs {set}. Or add its prefix to NODEVOLUME_ALLOWED_PREFIXES and to the agent's DaemonSet.",
  PathConflict: "Change the path in one of the two sets: kubectl get nvi --field-selector spec.nodeName={node} -o wide",
  SourceNotAllowed: "Name a source in the set that is not in the agent's own state directory.",
  SourceNotFound:
    "Create {source} on {node}, plug the device in, or correct the path: kubectl debug node/{node} -it --image=busybox -- ls -l /host{source}",
  SourceDiffers:
    "Restore the former source at {source} on {node}. If the new one is right, take the node out of the set and back in.",
  SourceWrongType:
    "Correct the type in the set, or what is at {source}: kubectl debug node/{node} -it --image=busybox -- ls -ld /host{source}",
  TargetNotDirectory: "Move away what is there, as a directory is needed. On {node}: mv {path} {path}.old",
  TargetNotFile: "Move the directory away that is at the path on {node}: a file is needed there.",
  DotDotInPath: 'Write the path in the set without the segments "." and "..".',
  SymlinkInPath: "Find the real path on {node} with readlink -f {path}, and write that into the set.",
  ForeignMount:
    "Unmount it on {node} (umount {path}) and remove what mounts it, such as fstab; or set adopt: IfSame on the set.",
  ForeignMountInPath: "Unmount it, or name another path. See what it is on {node}: findmnt -T {path}",
  TargetMoved: "Rename the directory back on {node}, or unmount the volume where it is now: it is then mounted again.",
  NotPropagated:
    "Give the agent's DaemonSet the prefix as a volume with mountPropagation: Bidirectional. See on {node}: findmnt -o TARGET,PROPAGATION -T {path}",
  TargetCovered: "Unmount what is mounted over {path} on {node}: findmnt -A shows it.",

  DeviceBusy:
    "Follow the message, or name another device. See on {node}: lsblk {device}; fuser -v {device}; grep -rs {device} /sys/kernel/config",
  DeviceNotEmpty: "If its data may be DESTROYED, follow the message. See on {node}: lsblk -f {device}",
  DiskNotFound: "Plug it in, or correct the selector. On {node}: lsblk -o NAME,SIZE,LABEL,SERIAL,FSTYPE",
  DiskNotCompared: `If it stays, check that a controller of this version leads: ${controllerLog}`,
  DiskAmbiguous: "Name one by serial or byID: kubectl edit nvs {set}. On {node}: lsblk -o NAME,SIZE,SERIAL",
  FilesystemReadOnly:
    "Read dmesg on {node} and repair the disk. Then take the node out of the set and back in, to have it checked.",
  FilesystemDuplicate:
    "Unmount the other file system of this UUID on {node}, or give one a new UUID: xfs_admin -U generate, btrfstune -m",
  FilesystemDamaged:
    "If it is mounted, take the node out of the set and back in. Else copy the disk, then run on {node} the command in the message.",
  JournalNotReplayed:
    "Once no node uses the disk, mount it on one without readOnly, and unmount it: that replays the journal.",
  ReadError: "Read dmesg on {node}, and smartctl -a {device}. Copy what can be read, and replace it.",
  FilesystemMissing: "Once you are sure that it is the right device, name the file system to make in fsType.",
  FilesystemMismatch: "Correct fsType in the set, leave it out, or empty the device by hand if its data may go.",
  FilesystemUnsupported:
    "If the message names a kernel module, install it on {node}. Else follow it, or choose another file system.",
  PassphraseRefused:
    "Put the old passphrase back into the Secret, or add the new one on {node}: cryptsetup luksAddKey {device}",
  SwapNeeded:
    "Free memory on {node}, such as by kubectl drain {node}, or turn other swap on. See there: swapon --show; free -m",
  VolumeGroupFull: "Add a disk to the volume group on {node} (vgextend), or lower capacity in the set. See there: vgs",
  ToolMissing:
    "If it is missing on the node, install it on {node}. Else run the agent from the image node-volume-operator-agent, which has it.",
  FormatFailed: "Read the output of mkfs above, and dmesg on {node}: the device may be too small, read-only or broken.",
  OptionsRefused: "Change mountOptions in the set. dmesg on {node} shows what the kernel refuses.",
  QuotaUnsupported:
    "Remove sizeLimit, or use medium: Memory, or drain {node} and make /var/lib/nodevolume there an xfs with prjquota.",
  ShareNotFound: "Correct the name in the set, or create the share, directory, image or target on the server.",
  ImageUnsupported:
    "Correct the image's features (rbd feature enable or disable), or set client: NBD or readOnly: true.",
  CredentialsRefused:
    "Correct the user and password in the Secret, or the user's rights on the server. A change is tried at once.",
  InitiatorNotReady: "Install open-iscsi on {node} and start it: systemctl enable --now iscsid",
  ServerUnreachable:
    "Check name, port and firewall from {node}: getent hosts {server}; nc -vz {server} {port}. It is retried by itself.",

  RepositoryRefused:
    "Correct the address or the Secret. With the Secret alone, git ls-remote or crane manifest must work.",
  RevisionNotFound: "Push the commit or image again, or name another: kubectl edit nvs {set}. It is retried.",
  ContentRefused: "Name a commit or image without the file that is named. If you did not create it, find out who did.",
  ContentTooLarge: "Raise sizeLimit in the set, or name something smaller.",

  ConfigMapNotFound: "Create it, correct its name in the set, or set optional: true.",
  SecretNotFound: "Create it, correct its name in the set, or set optional: true.",
  KeyNotFound: "Add the key to the object, correct items in the set, or set optional: true.",
  ConfigMapAccessDenied:
    "Name it in config/components/object-access/role.yaml, and let the owner apply that: kubectl -n {namespace} apply -f role.yaml",
  SecretAccessDenied:
    "Name it in config/components/object-access/role.yaml, and let the owner apply that: kubectl -n {namespace} apply -f role.yaml",
  FileConflict: "Give one of the two sources another path in items.",
  NodeNotFound: "It comes back when its kubelet registers. Check: kubectl get node {node}",
  NodeAccessDenied: `Before Kubernetes 1.36, apply config/components/node-fields. Check: kubectl auth can-i watch nodes ${asAgent}`,
  ServiceAccountNotFound: "Create the ServiceAccount, or correct its name in the set.",
  TokenAccessDenied: "Let the owner of the namespace apply config/components/token-access, for this ServiceAccount.",
  TrustBundleNotFound:
    "Create it, or correct name, signerName or labelSelector: kubectl get clustertrustbundles --show-labels",
  TrustBundleAccessDenied: "Apply config/rbac again: the agent's ClusterRole lacks clustertrustbundles.",
  ContentUnknown: `If it stays, read the agent's log for what the API server answers; find its pod: ${agentPods}`,

  WaitingForAttach:
    "If it stays, check that the driver's controller and external-attacher run: kubectl describe volumeattachments",
  AttachFailed: "Follow the driver's message. It is retried; the log of the driver's controller has more.",
  Detaching:
    "If it stays, read the external-attacher's log: it removes the finalizer once the storage has released the volume.",
  VolumeHeldElsewhere:
    "Take the node that holds it out of its set, or wait. If that node is off permanently, taint it: node.kubernetes.io/out-of-service",
  ForeignAttachment: "End the pods that use the claim, or let them use csi.nodevolume.dev.",
  UsedByPods: "End the pods that are named, or take the claim out of the set.",
  SharedWithKubelet: "End the pod that is named. The policy refuses new ones.",
  AttachLimitReached:
    "End pods that use other volumes of this driver on {node}, or take the node out of the set: kubectl get volumeattachments",
  DriverNotOnNode: "If it stays, check that the driver's DaemonSet runs on {node}: kubectl get csinode {node} -o yaml",
  NotProtected:
    "Remove what refuses the finalizer, such as a webhook. Do not delete the claim or PersistentVolume meanwhile.",
  AttachNotManaged:
    "Remove volumes.kubernetes.io/controller-managed-attach-detach from the Node, or the setting that is named.",
  StaleNodeID: "Make sure that the old machine is off, then delete the VolumeAttachment that is named.",
  PublishContextTooLarge: "Report it to the driver's makers: attachmentMetadata may have at most 4 KiB.",
  VolumeTooLarge: "Name fewer or shorter attributes and mountOptions in the StorageClass, and make the volume again.",
  ClaimNotFound: "Create the claim, or correct its name in the set or pod: kubectl -n {namespace} get pvc",
  ClaimNotAllowed:
    "Let the owner of the claim allow the set: kubectl -n {namespace} label pvc {claim} allowed-set.nodevolume.dev/{set}=true",
  ClaimNotBound: "If it stays, read its events: kubectl -n {namespace} describe pvc {claim}",
  ClaimLost: "Restore the PersistentVolume, or delete the claim and create another. The data may be gone.",
  ClaimDeleting: "Wait until the claim is gone and create another, or take it out of the set.",
  SELinuxConflict: "Give the pods one securityContext.seLinuxOptions.level, or run them on different nodes.",
  PodLacksGroup: "Add the group to the pod's securityContext.supplementalGroups, and create the pod again.",
  ClaimOfOther: "Delete the claim if nobody needs it, or give the pod or its volume another name.",
  ClaimMismatch: "Bind the claim to a volume of its own: kubectl -n {namespace} describe pvc {claim}",
  PersistentVolumeNotFound: "Restore the PersistentVolume, or delete the claim and create another.",
  VolumeModeMismatch: "Set volumeMode of the set to that of the claim: kubectl -n {namespace} get pvc {claim} -o yaml",
  AccessModeMismatch: "Set readOnly: true, use one mount, or use a claim with another access mode.",
  VolumeSourceUnsupported:
    "Set the annotation that is named on the PersistentVolume, name its source in the set, or use a CSI volume.",
  NodeAffinityMismatch: "Select other nodes in the set: the PersistentVolume's nodeAffinity excludes {node}.",
  NeedsScheduler: "Select exactly one node in the set, or bind the claim by hand (spec.volumeName).",
  ProvisioningRefusedForNode: "If it stays, read the provisioner's events: kubectl -n {namespace} describe pvc {claim}",
  PolicyMissing:
    "Apply the policies: kubectl apply --server-side -k config/policy. If somebody has changed one, add --force-conflicts.",
  LifecycleModeUnsupported: "Name a volume of another driver, or use this one inline in pods.",
  PerPodIdentity: "Remove the mounts from the set and use the volume in pods, or reference the claim in pods directly.",
  CSIDriverWrong:
    "Apply config/agent/csi-driver.yaml. If a field cannot be changed, first: kubectl delete csidriver csi.nodevolume.dev",

  FailedAttachVolume: "Follow the driver's message. It is retried; the log of the driver's controller has more.",
  FileSystemResizeFailed: "Give the node a mount without readOnly, or let another node that has one grow it.",
  VolumeResizeFailed: "Follow the driver's message. For iscsi and fc, grow the LUN on the target first.",

  DriverNotRegistered:
    "If it stays, check the driver's pod and its registrar: kubectl get pods -A -o wide --field-selector spec.nodeName={node}",
  DriverFailed: "Follow the driver's message; its log has more. It is retried.",
  DriverUnavailable:
    "If it stays, check the driver's pod: kubectl get pods -A -o wide --field-selector spec.nodeName={node}",
  DriverBusy: "Nothing to do: it is retried when the driver has ended its operation.",
  DriverReplyInvalid: "Report the message to the driver's makers. It is retried.",
  DriverMissing: "Install the driver's program on {node}, executable, at the path in the message.",
  DriverReplyFalse:
    "If it stays, give the driver's pod --csi-dir at the same path, with mountPropagation: Bidirectional.",
  DriverMayStillAct: "Nothing to do: it is over after two minutes.",
  VolumeInUse:
    "The mounts keep the old size. To grow it, take the node out of the set and back in when nobody uses it there.",
  NoWritableMount: "Give the node a mount without readOnly, if it has to grow here.",
  FsGroupConflict: "Specify one fsGroup in all sets that mount the volume.",
  GrantOutdated: "Take the node out of the set and back in when nobody uses the volume there.",
  SELinuxContextConflict: "Specify one seLinuxOptions in all sets that mount the volume.",
  VolumePermissionChangeInProgress: "Wait, or set fsGroupChangePolicy: OnRootMismatch to skip it the next time.",
  VolumePermissionChangeRefused: "Export the share with no_root_squash, or specify no fsGroup.",
  VolumeConditionAbnormal: "Follow the driver's message; its log has more.",
  ExpansionInfeasible: "Request another size in the claim.",

  SetUpFailed: "Follow the error in the message. It is retried within two minutes.",
  TearDownFailed: "Follow the error in the message. It is retried within two minutes.",
  TargetBusy: "End the processes that are named, or the pods that use the path. See all on {node}: fuser -vm {path}",
  StillReferenced:
    "Restart or delete the pod of the process that is named, or unmount it in there: nsenter -t PID -m umount PATH",
  ForeignMountOnTarget: "Unmount the foreign mount, which is on top, on {node}: umount {path}",
  ForeignMountBeneath: "Unmount both on {node}: umount {path}, twice. The volume is then mounted again.",
  TargetChanged: "If it repeats, find who may rename the directories above {path} on {node}: ls -ld of each",
  NotAnswering: "Bring the server, FUSE process or device back; resume a stopped process with kill -CONT PID.",
  TimedOut: "If it repeats, check the server or device, and dmesg on {node}.",
  OperationAbandoned: "Bring the server or device back. See what the process waits for on {node}: cat /proc/PID/stack",
  ProcessLimitReached: "If it stays, find the volumes that hang: kubectl get nvi --field-selector spec.nodeName={node}",
  LeftByKubelet: "Check first: kubectl nvi orphans {node} -o wide. Then follow its REMEDY.",
  UnexplainedRemoval: "Create its set again, or unmount it. See what is left: kubectl nvi orphans {node}",

  BlockForPods: "Use a volume of volumeMode Filesystem in the pod.",
  ConsumerStillRunning: "If it stays, check that kubelet runs on {node}, and there: crictl pods",
  PodMismatch: "If it stays, delete the pod and let it be created again.",
  PodNotListed: `If it stays and the pod has no Event, check that the controller runs: ${controllerLog}`,
  WaitingForToken: "Nothing to do: kubelet calls again within two minutes.",
  SubPathMissing: "Create the directory or file in the volume, or correct subPath in the pod.",
  SetNotFound: "Create the set, or correct its name in the pod: kubectl get nvs",
  SetNotServing: "Set mode: Manage on the set, or name another set in the pod.",
  NamespaceNotAllowed: "Let the set's owner add the namespace to allowedNamespaces of the set.",
  NodeNotSelected: "Select the node in the set, or give the pod the set's nodeSelector, affinity and tolerations.",
  NodeAffinityConflict:
    "Create the pod again with the node terms of its volumes, or with the label nodevolume.dev/no-gate.",

  NoNodesSelected:
    "Compare nodeSelector, affinity and tolerations of the set with kubectl get nodes --show-labels; uncordon a node.",
  RollingOut: "Nothing to do. See how far it is: kubectl get nvs {set} -o wide",
  RolloutPaused: "Repair the named node, or revert the change.",
  NodesNotReady: "See which nodes, and why: kubectl nvi explain {set}",
  Conflict: "Give one of the two sets another path or nodeSelector, or equal settings: kubectl edit nvs {set}",
  Drifted: "Nothing to do in mode Manage, unless it repeats: it is repaired at once.",
  IntentTooLarge:
    "Remove mounts from the sets of this volume, or split them by node: kubectl get nvi -l set.nodevolume.dev/{set} -o wide",
  Deleting: "See which nodes still have it: kubectl get nvi -l set.nodevolume.dev/{set}",
  NodeLost: "If you have made sure that the machine is off: kubectl nvi release {node} {volume} --i-have-checked",
};

/**
 * PURE. What to do about a reason, with its names filled in; a name that is not known stands in capitals, as in
 * `kubectl` help, and so does one that nobody should paste. Agents and tenants write some of them, and people paste the
 * commands: each is one word of a shell. Undefined of a reason that asks nothing of people.
 */
export function nextStep(reason: string, names: StepNames = {}): string | undefined {
  const own = names.pid === undefined ? undefined : stepIn(processSteps, reason);
  const unnamed = reason === "ServerUnreachable" && names.server === undefined ? unnamedServerStep : undefined;
  const text = own ?? unnamed ?? stepIn(nextSteps, reason);
  return text === undefined ? undefined : withNames(text, names);
}

function stepIn(steps: { readonly [reason in Reason]?: string }, reason: string): string | undefined {
  return Object.hasOwn(steps, reason) ? steps[reason as Reason] : undefined;
}

/** What to do about a reason where the process that is waited for is known. */
const processSteps: { readonly [reason in Reason]?: string } = {
  TargetBusy: "On {node}: kill {pid}, and others that are named. If a pod or service restarts them, end that.",
  StillReferenced: "On {node}: kill {pid}, or end its pod. See its mounts: nsenter -t {pid} -m findmnt",
};

/**
 * What to do about a reason of a pod's directory, where that is another thing than of a mount of the set. What is there
 * belongs to kubelet, and the pod says which part of the volume it wants.
 */
const podSteps: { readonly [reason in Reason]?: string } = {
  ForeignMount: "See what is mounted in the pod's directory on {node}, and unmount it there: findmnt {path}",
  SymlinkInPath: "Name a path in subPath of the pod that leads by no link out of the volume.",
  SourceWrongType: "Correct subPath in the pod, or what is there in the volume: directories and files are bound.",
};

const suspendSteps = {
  Node: "To continue: kubectl label node {node} nodevolume.dev/suspend-",
  NodeVolumeSet: `To continue: kubectl patch nvs {set} --type merge -p '{"spec":{"suspend":false}}'`,
} as const;

/** PURE. How set-up and repair go on that the set, or a label of the Node, has suspended. */
export function resumeStep(by: keyof typeof suspendSteps, names: StepNames): string {
  return withNames(suspendSteps[by], names);
}

/**
 * PURE. How to find what undoes each repair of a volume.
 * @param last message of the last drift: a disk or a server that fails needs another look than somebody who unmounts
 */
export function repeatedDriftStep(last: string, names: StepNames): string {
  return withNames(`${repeatedDriftCheck(last, names)}. Times: kubectl nvi history {node}/{volume}`, names);
}

function repeatedDriftCheck(last: string, { path }: StepNames): string {
  if (last.includes(driftTexts.readOnlyFlip)) return "Read dmesg on {node}, and check the device";
  if (last.includes(driftTexts.serverEnded)) return "Find why the server or FUSE process ends, on {node}: dmesg";
  const where = path === undefined ? "journalctl --since -1h" : "grep -rsl {path} /etc";
  return `Find what does it on {node}, and stop it: ${where}`;
}

/** What to do about a server that nothing names but the message. */
const unnamedServerStep =
  "Check from {node} the name, port and firewall of the server in the message. It is retried by itself.";

/** PURE. As nextStep, of what the agent says of a pod's directory. */
export function podStep(reason: string, names: StepNames = {}): string | undefined {
  const own = stepIn(podSteps, reason);
  return own === undefined ? nextStep(reason, names) : withNames(own, names);
}

/** PURE. A text with its names filled in; one that is not known, or that nobody should paste, stands in capitals. */
export function withNames(text: string, names: StepNames = {}): string {
  return text.replace(/\{([a-z]+)\}/g, (_, name: string) => {
    const known = names[name as keyof StepNames] ?? "";
    return (known === "" ? undefined : shellWord(known)) ?? name.toUpperCase();
  });
}
