import { dirname } from "node:path";

export interface FarewellInput {
  /** Numbers as other terminals see them. */
  readonly initPid: number;
  readonly hostPid: number;
  readonly hostName: string;
  readonly kubectl: string;
  /** kubectl-nvi. */
  readonly cli: string;
  readonly kubeconfig: string;
  readonly logs: string;
}

export interface PlainFarewellInput extends FarewellInput {
  /** 0 if it has none now: a command for it would end its own terminal. */
  readonly agentPid: number;
}

/** Commands that work from another terminal: what the sandbox holds is reached through its first process. */
export function farewell(input: PlainFarewellInput): string {
  const inside = `/proc/${input.initPid}/root`;
  const enter = `nsenter -t ${input.hostPid} -m -p`;
  const agent = input.agentPid === 0 ? "" : agentLine(input.agentPid);
  return `It stays up until Ctrl-C. From another terminal, as root:
  ${exportLine(input)}
  kubectl get nvs,nvi,nvstate -o wide                      # sets, intents, nodes
  kubectl nvi explain node/${input.hostName}                       # one node, in words; also a set, or a volume
  ${enter} umount /var/lib/nodevolume/mounts/shared/ro  # unmount behind the agent's back, on the host of ${input.hostName}
${agent}  kubectl -n nodevolume-quickstart edit configmap settings # the files beneath /var/lib/nodevolume/mounts/settings change as one
  kubectl patch nvs scratch --type merge -p '{"spec":{"suspend":true}}'   # no repair while you maintain
  tail -f ${inside}${input.logs}/*.log
`;
}

const agentLine = (pid: number) =>
  `  kill -9 ${pid}                                       # the agent: it is started again, and the mounts stay\n`;

/** The cluster, kubectl and kubectl-nvi, as a shell takes them. */
export function exportLine({ initPid, kubeconfig, kubectl, cli }: FarewellInput): string {
  return `export KUBECONFIG=/proc/${initPid}/root${kubeconfig} PATH="${dirname(kubectl)}:${dirname(cli)}:$PATH"`;
}
