import { parentPort } from "node:worker_threads";
import { Admission } from "../api/admission.ts";
import { carryOut, type Job } from "./jobs.ts";

const admission = new Admission();

parentPort?.on("message", (job: Job) => {
  void carryOut(job, admission).then((outcome) => parentPort?.postMessage(outcome));
});
