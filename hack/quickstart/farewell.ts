import { dirname } from "node:path";

export interface FarewellInput {
  /** Numbers as other terminals see them. */
  readonly initPid: number;
  readonly hostPid: number;
  readonly hostName: string;
  readonly kubectl: string;
  readonly kubeconfig: string;
  readonly logs: string;
}

/** Commands that work from another terminal: what the sandbox holds is reached through its first process. */
export function farewell(input: FarewellInput): string {
  const inside = `/proc/${input.initPid}/root`;
  const enter = `nsenter -t ${input.hostPid} -m -p`;
  return `It stays up until Ctrl-C. From another terminal, as root:

  export KUBECONFIG=${inside}${input.kubeconfig} PATH="${dirname(input.kubectl)}:$PATH"

  kubectl get nvs,nvi,nvstate -o wide                      # sets, intents, nodes
  kubectl describe nvi ${input.hostName}.scratch                       # one volume on one node (its name: kubectl get nvi)
  ${enter} umount /mnt/nodevolume/scratch    # unmount behind the agent's back, on the host of ${input.hostName}
  ${enter} grep /mnt/nodevolume/ /proc/self/mountinfo
  kubectl -n nodevolume-quickstart edit configmap settings # the files beneath /mnt/nodevolume/settings change as one
  ${enter} head /mnt/nodevolume/settings/motd
  kubectl patch nvs scratch --type merge -p '{"spec":{"suspend":true}}'   # no repair while you maintain
  kubectl delete nvs scratch                               # unmounted everywhere
  tail -f ${inside}${input.logs}/*.log
`;
}
