// Every benchmark in one run: node hack/bench/all.ts --json out.json. See README.md.
import { drifting } from "./drift.ts";
import { idling } from "./idle.ts";
import { main } from "./lib/main.ts";
import { mountLatency } from "./mount-latency.ts";
import { restarting } from "./restart.ts";

await main(import.meta.filename, [mountLatency, restarting, drifting, idling]);
