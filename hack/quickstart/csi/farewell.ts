import { exportLine, type FarewellInput } from "../farewell.ts";
import { namespace } from "./beside.ts";

export interface CSIFarewellInput extends Omit<FarewellInput, "hostName"> {
  /** Names of all nodes; the claim is on the first. */
  readonly hosts: readonly string[];
}

/** Commands that work from another terminal: what the sandbox holds is reached through its first process. */
export function csiFarewell(input: CSIFarewellInput): string {
  const inside = `/proc/${input.initPid}/root`;
  const enter = `nsenter -t ${input.hostPid} -m -p`;
  const [here = "", there] = input.hosts;
  const move =
    there === undefined
      ? "  # with --nodes 2 the claim can be moved between nodes"
      : `  kubectl patch nvs archive --type merge -p '{"spec":{"nodeSelector":{"kubernetes.io/hostname":"${there}"}}}' # to another node`;
  return `It stays up until Ctrl-C. From another terminal, as root:

  ${exportLine({ ...input, hostName: here })}

  kubectl get nvs,nvi -o wide
  kubectl get pvc,pv,volumeattachments -n ${namespace}
  kubectl get nvi -o yaml                                  # what ${here} reports: status.grant, status.conditions, status.waiting
  ${enter} umount /var/lib/nodevolume/mounts/archive/rw   # unmount behind the agent's back, on the host of ${here}
  ${enter} grep xfs /proc/self/mountinfo
  kubectl patch pvc archive -n ${namespace} --type merge -p '{"spec":{"resources":{"requests":{"storage":"1Gi"}}}}'
${move}
  kubectl delete nvs archive                               # given back: unpublished, unstaged, detached, free for pods
  tail -f ${inside}${input.logs}/*.log
`;
}
