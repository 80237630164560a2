/** The container that a process is in, as far as the names of its cgroups tell. */
export interface ContainerIDs {
  /** Id by which the container runtime knows it. */
  readonly container?: string;
  readonly pod?: string;
}

/** The id, or its maker before it: `cri-containerd-<id>`, `crio-<id>`, `docker-<id>`, `libpod-<id>`, `kata_<id>`. */
const containerID = /^(?:.*[-_])?([0-9a-f]{64})$/;
/** `kubepods-burstable-pod<uid>` with underscores (systemd), or `pod<uid>` (cgroupfs). */
const podUID = /^(?:.*-)?pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})$/;

/**
 * PURE. What /proc/PID/cgroup says (cgroups(7)): the names that kubelet and the container runtimes give to cgroups.
 * Static pods have a hash of 32 digits for a UID. Of containers in containers it is the outer one, which the node's
 * runtime knows.
 */
export function containerOf(cgroup: string): ContainerIDs {
  for (const line of cgroup.split("\n")) {
    const words = wordsIn(line.slice(line.indexOf(":", line.indexOf(":") + 1) + 1));
    const container = firstIn(words, containerID);
    const pod = firstIn(words, podUID)?.replaceAll("_", "-");
    if (container !== undefined || pod !== undefined) return { ...(container && { container }), ...(pod && { pod }) };
  }
  return {};
}

/**
 * The names in a path, without the kind of unit that systemd sees in them. One that is written for systemd may have
 * been taken for a directory's, as it is: `<slice>:cri-containerd:<id>`. A cgroup that is removed is said to be.
 */
function wordsIn(path: string): string[] {
  return path
    .replace(/ \(deleted\)$/, "")
    .split(/[/:]/)
    .map((word) => word.replace(/\.(scope|slice|service)$/, ""));
}

function firstIn(words: readonly string[], pattern: RegExp): string | undefined {
  return words.map((word) => pattern.exec(word)?.[1]).find((found) => found !== undefined);
}
