import { podDriver } from "../../api/names.ts";

/** PURE. Where the driver for pods answers: in a directory that only root enters. */
export function driverSocket(csiDir: string): string {
  return `${csiDir}/${podDriver}/csi.sock`;
}

/** PURE. By which kubelet finds it. */
export function registrationSocket(registrationDir: string): string {
  return `${registrationDir}/${podDriver}-reg.sock`;
}
