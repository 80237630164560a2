/** The container that a process is in, as far as the names of its cgroups tell. */
export interface ContainerIDs {
  /** Id by which the container runtime knows it. */
  readonly container?: string;
  readonly pod?: string;
}

/** `cri-containerd-<id>.scope`, `crio-<id>.scope`, `docker-<id>.scope`, `libpod-<id>.scope`, or the bare id. */
const containerID = /(?:^|[/-])([0-9a-f]{64})(?:\.scope)?(?:\/|$)/;
/** `kubepods-burstable-pod<uid>.slice` with underscores (systemd), or `pod<uid>` (cgroupfs). */
const podUID =
  /(?:^|[/-])pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?(?:\/|$)/;

/**
 * PURE. What /proc/PID/cgroup says (cgroups(7)): the names that kubelet and the container runtimes give to cgroups. Static
 * pods have a hash of 32 digits for a UID.
 */
export function containerOf(cgroup: string): ContainerIDs {
  for (const line of cgroup.split("\n")) {
    const path = line.slice(line.indexOf(":", line.indexOf(":") + 1) + 1);
    const container = containerID.exec(path)?.[1];
    const pod = podUID.exec(path)?.[1]?.replaceAll("_", "-");
    if (container !== undefined || pod !== undefined) return { ...(container && { container }), ...(pod && { pod }) };
  }
  return {};
}
