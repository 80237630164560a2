import { parentPort } from "node:worker_threads";
import { Admission } from "../api/admission.ts";
import { carryOut, type Job } from "./jobs.ts";

// Thousands of requests a second are refused on purpose; a run that fails is told again to find out where it did.
Error.stackTraceLimit = 0;
const admission = new Admission();

parentPort?.on("message", (job: Job) => {
  void carryOut(job, admission).then((outcome) => parentPort?.postMessage(outcome));
});
