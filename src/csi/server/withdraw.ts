import { rmSync } from "node:fs";
import { driverSocket, registrationSocket } from "./socket-paths.ts";

/** Takes away what an agent that served pods has left, so that kubelet does not call where nobody answers. */
export function withdrawPodDriver(csiDir: string, registrationDir: string): void {
  rmSync(registrationSocket(registrationDir), { force: true });
  rmSync(driverSocket(csiDir), { force: true });
}
