/** Ours, beside that of kubelet's pods. No unit of systemd: it leaves alone what it has not made. */
const name = "nodevolume";
/**
 * As kubelet names what all pods are in, by itself or as a unit of systemd, and beneath a root of its own (kind has
 * kubelet-kubepods.slice); or a pod's, where a runtime takes what is written for systemd for the name of a directory
 * (`kubepods-pod<uid>.slice:cri-containerd:<id>`).
 */
const ofPods = /^(.+-)?kubepods(\.slice|(-besteffort|-burstable)?-pod[0-9a-f_]+\.slice:.*)?$/;

/** A cgroup of a hierarchy: version 2 has one hierarchy, version 1 one for each controller. */
export interface Cgroup {
  /** "" in version 2. */
  readonly controllers: string;
  readonly path: string;
}

/** PURE. What /proc/PID/cgroup says. */
export function cgroupsIn(text: string): Cgroup[] {
  return text.split("\n").flatMap((line) => {
    const [, controllers = "", path] = /^[0-9]+:([^:]*):(\/.*)$/.exec(line) ?? [];
    return path === undefined ? [] : [{ controllers: controllers.replace(/^name=/, ""), path }];
  });
}

/**
 * PURE. Whether a process is in a pod, and not in the container of who asks. Both as /proc/PID/cgroup has them for one
 * who is in the node's cgroup namespace: seen from another, what begins with `/..` may be anybody's.
 */
export function isInOtherPod(its: string, own: string): boolean {
  const ours = new Map(cgroupsIn(own).map(({ controllers, path }) => [controllers, path]));
  return cgroupsIn(its).some(
    ({ controllers, path }) =>
      path !== ours.get(controllers) && (cgroupNextToPods(path) !== undefined || /^\/\.\.(\/|$)/.test(path)),
  );
}

/** PURE. The cgroup beside that of kubelet's pods, for who is in a pod's; undefined for who is in none. */
export function cgroupNextToPods(path: string): string | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  const at = parts.findIndex((part) => ofPods.test(part));
  return at < 0 ? undefined : `/${[...parts.slice(0, at), name].join("/")}`;
}
