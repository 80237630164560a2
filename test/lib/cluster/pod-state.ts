// What has become of a pod, from what kubelet says of it: pure.

export interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

interface ContainerStatus {
  readonly name: string;
  readonly restartCount: number;
  readonly state?: ContainerState;
  /** Of the one before, if it has been started again. */
  readonly lastState?: ContainerState;
}

interface ContainerState {
  readonly running?: object;
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: Terminated;
}

interface Terminated {
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
}

/**
 * All that is told of a pod, on one line: "pod-1 Failed, OutOfcpu: too little, main: exited with 128, StartError: …".
 */
export function described(name: string, pod: Pod | undefined): string {
  if (pod === undefined) return `${name} is gone`;
  const { metadata, spec, status = {} } = pod;
  const { phase = "without a phase", reason, message, containerStatuses = [] } = status;
  const parts = [
    `${name} ${phase}`,
    ...(metadata.deletionTimestamp === undefined ? [] : ["being deleted"]),
    ...(spec.nodeName === undefined ? ["on no node"] : []),
    ...why(reason, message),
    ...containerStatuses.map(ofContainer),
  ];
  return parts.join(", ").replace(/\s+/g, " ");
}

/** What a container of the pod has failed with, now or before it was started again; undefined if it was only ended. */
export function failureOf({ metadata, status }: Pod): string | undefined {
  const ends = (status?.containerStatuses ?? []).flatMap(({ state, lastState }) =>
    [lastState?.terminated, state?.terminated].filter((one) => one !== undefined),
  );
  const failed = ends.find((end) => !wasEnded(end, metadata.deletionTimestamp !== undefined));
  return failed && (failed.message ?? `exited with ${failed.exitCode}`);
}

/** By others, through no fault of the program and its volumes. */
function wasEnded({ exitCode, reason, message = "" }: Terminated, deleting: boolean): boolean {
  // By SIGKILL, as when its time to end is over; or before it listened, which a first process answers with 2 where it
  // is written in Go.
  if (exitCode === 0 || exitCode === 137 || (exitCode === 2 && deleting)) return true;
  // It never ran: who had asked containerd for it, kubelet, was killed meanwhile.
  return reason === "StartError" && /context canceled/.test(message);
}

function ofContainer({ name, restartCount, state, lastState }: ContainerStatus): string {
  const restarts = restartCount === 0 ? "" : ` (started again ${restartCount} times, before: ${ofState(lastState)})`;
  return `${name}: ${ofState(state)}${restarts}`;
}

function ofState({ running, waiting, terminated }: ContainerState = {}): string {
  if (running !== undefined) return "running";
  if (waiting !== undefined) return ["waiting", ...why(waiting.reason, waiting.message)].join(" for ");
  if (terminated === undefined) return "nothing";
  return [`exited with ${terminated.exitCode}`, ...why(terminated.reason, terminated.message)].join(", ");
}

function why(reason: string | undefined, message: string | undefined): string[] {
  const text = [reason, message].filter((part) => part !== undefined && part !== "").join(": ");
  return text === "" ? [] : [text];
}
