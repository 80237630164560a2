// One benchmark in a process and a mount namespace of its own: prints what it measured as JSON.
import { againRun, idleRun, restartRun } from "./long-runs.ts";
import { prepare, type Workplace, workplaceAt } from "./node-under-test.ts";
import { burstRun, changeRun, restRun } from "./planner-runs.ts";
import { type Profiled, profileRun } from "./profile-run.ts";
import { driftRun, type Measured, mountRun, retryRun } from "./runs.ts";

const runs = {
  mount: mountRun,
  drift: driftRun,
  retry: retryRun,
  idle: idleRun,
  restart: restartRun,
  again: againRun,
  profile: profileRun,
  burst: burstRun,
  change: changeRun,
  rest: restRun,
};

export type RunName = keyof typeof runs;

async function main(): Promise<void> {
  const { run, path, of } = JSON.parse(process.argv[2] ?? "{}") as { run: RunName; path: string; of: never };
  const place: Workplace = workplaceAt(path);
  if (run !== "again") prepare(place);
  const measured: Measured | Profiled = await runs[run](place, of);
  process.stdout.write(`${JSON.stringify(measured)}\n`);
}

void main().then(
  () => process.exit(0), // mounts go with the namespace
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
