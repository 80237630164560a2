/**
 * Every flag that some command takes. `value` is what stands for its value in help; without it the flag is a switch.
 */
export const flags = {
  kubeconfig: { value: "PATH", what: "kubeconfig to use, instead of $KUBECONFIG or ~/.kube/config" },
  context: { value: "NAME", what: "context of the kubeconfig, instead of its current one" },
  namespace: { short: "n", value: "NAME", what: "namespace of pods and claims, instead of the context's" },
  output: { short: "o", value: "FORMAT", what: "json, yaml, wide or name, as far as the command has them" },
  "no-headers": { what: "leave out the line with the names of the columns" },
  selector: { short: "l", value: "LABELS", what: "only objects with these labels, as in kubectl get" },
  watch: { short: "w", what: "continue, and show each change" },
  for: { value: "STATE", what: "ready (the default) or released" },
  timeout: { value: "DURATION", what: "how long to wait: 30s, 5m (the default), 1h; 0 checks once without waiting" },
  wait: { what: "wait until the condition is met" },
  reason: { value: "TEXT", what: "why you are sure; written to the object together with your user name" },
  "i-have-checked": { what: "you have made sure yourself that the node no longer uses the volume" },
  "node-file": { value: "PATH", what: "fstab or mountinfo of the node; standard input if not given" },
  node: { value: "NAME", what: "the one node that the sets shall select; every node if not given" },
  pre: { what: "before the installation: whether the cluster is ready for it" },
  verbose: { short: "v", what: "show more of what went wrong" },
  help: { short: "h", what: "help of a command" },
} as const satisfies { [name: string]: Flag };

/** One flag of the command line. */
export interface Flag {
  readonly short?: string;
  readonly value?: string;
  readonly what: string;
}

/** The name of a flag, without dashes. */
export type FlagName = keyof typeof flags;

/** Taken by every command. */
export const everywhere: readonly FlagName[] = ["verbose", "help"];

/** Taken by every command that asks the cluster. */
export const ofCluster: readonly FlagName[] = ["kubeconfig", "context"];

/** What was given: the text of a value, "true" for a switch. */
export type FlagValues = { readonly [name in FlagName]?: string };
