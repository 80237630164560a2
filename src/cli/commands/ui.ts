import { systemNamespace } from "../../api/names.ts";
import type { Command } from "../command.ts";
import { exitCode, UsageError } from "../exit-code.ts";

/** Of the controller's --page-address. */
const pagePort = 9809;

export const uiCommand: Command = {
  name: "ui",
  args: ["[PORT]"],
  summary: "The web page of the controller, on a port of this machine",
  details: [
    `Forwards 127.0.0.1:PORT (${pagePort} if not given) to a controller with kubectl port-forward, until Ctrl-C.`,
    "The page only reads. It needs kubectl in PATH, and the right to forward a port of the pod.",
  ].join("\n"),
  flags: ["namespace"],
  formats: [],
  meanings: {
    namespace: { short: "n", value: "NAME", what: `namespace of the controller, instead of ${systemNamespace}` },
  },
  usesCluster: true,
  examples: ["kubectl nvi ui", "kubectl nvi ui 8080"],
  async run({ args: [word = String(pagePort)], values, context }) {
    const port = /^\d{1,5}$/.test(word) ? Number(word) : 0;
    if (port < 1 || port > 65_535)
      throw new UsageError(`ui needs a port of 1 to 65535, and not ${JSON.stringify(word)}`);
    const { kubeconfig, context: cluster, namespace = systemNamespace } = values;
    context.terminal.note(`The page is at http://127.0.0.1:${port} until Ctrl-C.`);
    const code = await context.kubectl([
      ...(kubeconfig === undefined ? [] : ["--kubeconfig", kubeconfig]),
      ...(cluster === undefined ? [] : ["--context", cluster]),
      // One address, and not the name: kubectl goes on if somebody else has the port at the other one of localhost.
      ...["--namespace", namespace, "port-forward", "--address", "127.0.0.1"],
      ...["deployment/nodevolume-controller", `${port}:${pagePort}`],
    ]);
    return code === 0 || context.interrupted.aborted ? exitCode.done : exitCode.failed;
  },
};
