import { systemNamespace } from "../../api/names.ts";
import type { Command } from "../command.ts";
import { exitCode, UsageError } from "../exit-code.ts";

/** Of the controller's --page-address. */
const pagePort = 9809;

export const uiCommand: Command = {
  name: "ui",
  args: ["[PORT]"],
  summary: "The controller's web page, on a port of this machine",
  details: [
    `Runs kubectl port-forward from 127.0.0.1:PORT (default: ${pagePort}) to a controller, until Ctrl-C. The page is read-only.`,
    "Needs kubectl in PATH, and the permission to create pods/portforward.",
  ].join("\n"),
  flags: ["namespace"],
  formats: [],
  meanings: {
    namespace: { short: "n", value: "NAME", what: `namespace of the controller; default: ${systemNamespace}` },
  },
  usesCluster: true,
  examples: ["kubectl nvi ui", "kubectl nvi ui 8080"],
  async run({ args: [word = String(pagePort)], values, context }) {
    const port = /^\d{1,5}$/.test(word) ? Number(word) : 0;
    if (port < 1 || port > 65_535) throw new UsageError(`ui needs a port from 1 to 65535, not ${JSON.stringify(word)}`);
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
