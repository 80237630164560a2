/**
 * Messages as people have them on their screens, and the answer that must come first: a reason, or the id of a known
 * message. They are from docs/explained-faults.md, from kubelet's and the scheduler's sources, and from reports that
 * others have published.
 */
export const messages: readonly (readonly [first: string, text: string])[] = [
  // kubelet repeats the answer of our driver: CODE, REASON: MESSAGE.
  [
    "SetNotFound",
    'MountVolume.SetUp failed for volume "data" : rpc error: code = FailedPrecondition desc = SetNotFound: there is no NodeVolumeSet dataset',
  ],
  [
    "PodNotListed",
    '  Warning  FailedMount  12s (x3 over 72s)  kubelet  MountVolume.SetUp failed for volume "data" : rpc error: code = Aborted desc = PodNotListed: no intent of node worker-5 lists pod shop/web-0',
  ],
  [
    "ServerUnreachable",
    'MountVolume.SetUp failed for volume "data" : rpc error: code = Aborted desc = ServerUnreachable: nas.example does not answer on port 2049: connection timed out',
  ],
  [
    "SubPathMissing",
    'MountVolume.SetUp failed for volume "data" : rpc error: code = FailedPrecondition desc = SubPathMissing: logs/2026: No such file or directory',
  ],
  [
    "CSIDriverWrong",
    "rpc error: code = FailedPrecondition desc = CSIDriverWrong: podInfoOnMount of the CSIDriver csi.nodevolume.dev is false",
  ],
  // kubectl nvi explain wraps its lines.
  [
    "SourceNotFound",
    `  … models on node-1 is Waiting, 0/1 mounts, not in use (for 9s)
  ✗ because there is no /mnt/data/models on the node: a local volume is never made, only used
    (SourceNotFound, for 9s, 2 attempts, next attempt is due)`,
  ],
  [
    "Conflict",
    `  ✗ on node-1: set logs uses /mnt/nodevolume/logs, above /mnt/nodevolume/logs/old (Conflict, for
    3m3s)`,
  ],
  ["Drifted", "… because the mount table is not as it was left (Drifted, for 2m25s)"],
  ["SourceNotFound", "SourceNotFound"],
  ["ForeignMount", "foreignmount"],
  // kubelet and what it calls
  [
    "agent-not-registered",
    'MountVolume.SetUp failed for volume "data" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name csi.nodevolume.dev not found in the list of registered CSI drivers',
  ],
  [
    "driver-not-registered",
    'MountVolume.MountDevice failed for volume "pv-1" : driver name disk.example not found in the list of registered CSI drivers',
  ],
  [
    "driver-socket",
    'MountVolume.MountDevice failed for volume "pvc-1" : rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /var/lib/kubelet/plugins/disk.example/csi.sock: connect: connection refused"',
  ],
  [
    "operation-exists",
    'MountVolume.MountDevice failed for volume "pvc-8f21" : rpc error: code = Aborted desc = an operation with the given Volume ID 0001-0024-0a5b already exists',
  ],
  [
    "busy",
    'MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal desc = umount /var/lib/kubelet/x: target is busy',
  ],
  [
    "fuse-gone",
    'MountVolume.SetUp failed for volume "pv-1" : stat /var/lib/kubelet/x: transport endpoint is not connected',
  ],
  ["config-map-missing", 'MountVolume.SetUp failed for volume "config" : configmap "kube-root-ca.crt" not found'],
  ["secret-missing", 'MountVolume.SetUp failed for volume "cert" : secret "webhook-server-cert" not found'],
  [
    "key-missing",
    'MountVolume.SetUp failed for volume "config-volume" : configmap references non-existent config key: missing-key',
  ],
  [
    "object-cache",
    'MountVolume.SetUp failed for volume "scripts" : failed to sync configmap cache: timed out waiting for the condition',
  ],
  [
    "host-path-type",
    'MountVolume.SetUp failed for volume "chroma-data" : hostPath type check failed: /srv/data/chroma is not a directory',
  ],
  [
    "mount-helper",
    `MountVolume.SetUp failed for volume "cache" : mount failed: exit status 32
Output: mount: /var/lib/kubelet/pods/70a8024a-b2d2-4330-852f-83a15d0005ee/volumes/kubernetes.io~nfs/cache: bad option; for several filesystems (e.g. nfs, cifs) you might need a /sbin/mount.<type> helper program.`,
  ],
  ["nfs-denied", "Output: mount.nfs: access denied by server while mounting 10.2.0.4:/export/datasets"],
  [
    "nfs-missing",
    "mount.nfs: mounting nas.example:/export/x failed, reason given by server: No such file or directory",
  ],
  [
    "server-unreachable",
    'MountVolume.SetUp failed for volume "nfs" : mount failed: exit status 32\nOutput: mount.nfs: Connection timed out',
  ],
  [
    "stale-handle",
    'MountVolume.SetUp failed for volume "pvc-1" : applyFSGroup failed for vol apps/nfs/pvc-1: lstat .../mount: stale file handle',
  ],
  [
    "fsck",
    "MountVolume.MountDevice failed for volume \"pvc-2\" : 'fsck' found errors on device /dev/sdc but could not correct them",
  ],
  [
    "other-filesystem",
    'failed to mount the volume as "ext4", it already contains xfs. Mount error: mount failed: exit status 32',
  ],
  ["volume-mode", "volume postgres-data has volumeMode Block, but is specified in volumeMounts"],
  ["sub-path", 'Error: failed to prepare subPath for volumeMount "workdir" of container "app"'],
  [
    "volumes-listed",
    "Unable to attach or mount volumes: unmounted volumes=[metrics-tls], unattached volumes=[config-volume kube-api-access-blmdj metrics-tls]: timed out waiting for the condition",
  ],
  // the scheduler, claims and attachments
  [
    "node-affinity",
    "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
  ],
  [
    "node-affinity",
    "0/4 nodes are available: 1 node(s) had volume node affinity conflict, 3 node(s) had taint {dedicated: gpu}, that the pod didn't tolerate.",
  ],
  ["taint-not-ready", "0/3 nodes are available: 3 node(s) had untolerated taint {nodevolume.dev/not-ready: }."],
  ["scheduling-gate", "SchedulingGated: Scheduling is blocked due to non-empty scheduling gates"],
  [
    "unbound-claim",
    "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes are available",
  ],
  [
    "volume-limit",
    "0/2 nodes are available: 1 node(s) exceed max volume count, 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }",
  ],
  [
    "multi-attach",
    'FailedAttachVolume  34s  attachdetach-controller  Multi-Attach error for volume "pvc-9dbdb7f1-850d-4553-97cf-90f88ead73ca" Volume is already exclusively attached to one node and can\'t be attached to another',
  ],
  [
    "attacher-missing",
    'AttachVolume.Attach failed for volume "ebs-pv" : timed out waiting for external-attacher of ebs.csi.aws.com CSI driver to attach volume vol-04c81a7d7f33cd986',
  ],
  ["still-detaching", 'AttachVolume.Attach failed for volume "pvc-94cbb8f5" : volume attachment is being deleted'],
  [
    "driver-not-on-node",
    'AttachVolume.Attach failed for volume "pvc-123" : CSINode node-a does not contain driver driver.longhorn.io',
  ],
  [
    "storage-class-missing",
    'Warning  ProvisioningFailed  2m (x15 over 30m)  storageclass.storage.k8s.io "fast-ssd" not found',
  ],
  [
    "no-volume-for-claim",
    "FailedBinding  persistentvolume-controller  no persistent volumes available for this claim and no storage class is set",
  ],
  [
    "claim-held",
    'pods "web" is forbidden: ValidatingAdmissionPolicy denied request: claim results has the label nodevolume.dev/held: a NodeVolumeSet has it mounted on nodes.',
  ],
  // Neither a code nor a known message: the words decide.
  ["PassphraseRefused", "the luks passphrase in my secret does not open the encrypted disk"],
  ["FilesystemDuplicate", "two disks with the same uuid, it is a clone of a snapshot"],
  ["NoNodesSelected", "nodeSelector of the set matches no node, mistyped label?"],
];
