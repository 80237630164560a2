// Runs a command in a sandbox: node hack/lib/sandbox/run.ts COMMAND ARG…
// The lanes of the tests that need root run like this; so does whoever wants to try something that leaves nothing
// behind.
import { spawn } from "node:child_process";
import { insideSandbox, openSandbox } from "./inside.ts";
import { keptFolders } from "./kept.ts";
import { newRunId, runInSandbox, runVariable } from "./outside.ts";
import { addStoragePrograms } from "./storage-programs.ts";

const command = process.argv.slice(2);
if (!insideSandbox()) {
  const id = process.env[runVariable] ?? newRunId();
  process.exitCode = await runInSandbox({ script: import.meta.filename, args: command, id });
} else {
  const { stopped } = openSandbox(keptFolders(process.env));
  addStoragePrograms(process.env);
  const child = spawn(command[0] ?? "true", command.slice(1), { stdio: ["inherit", "inherit", "inherit"] });
  stopped.addEventListener("abort", () => child.kill("SIGTERM"));
  process.exitCode = await new Promise<number>((resolve) => {
    child.on("error", (error) => {
      console.error(error.message);
      resolve(127);
    });
    child.on("exit", (code, signal) => resolve(code ?? (signal === "SIGKILL" ? 137 : 143)));
  });
}
