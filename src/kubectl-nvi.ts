// kubectl nvi, as one file: hack/lib/bundle-cli.ts makes dist/kubectl-nvi of it.
import { run } from "./cli/run.ts";

const interrupted = new AbortController();
process.on("SIGINT", () => {
  if (interrupted.signal.aborted) process.exit(130);
  interrupted.abort();
});
process.on("SIGTERM", () => process.exit(143));
// Whoever reads has read enough: `kubectl nvi volumes | head -1`.
process.stdout.on("error", () => process.exit(0));

const terminal = {
  out: (text: string) => void process.stdout.write(text),
  note: (line: string) => void process.stderr.write(`${line}\n`),
};
void run({ argv: process.argv.slice(2), terminal, interrupted: interrupted.signal }).then((code) =>
  // What was written has left us only when this has.
  process.stdout.write("", () => process.exit(code)),
);
