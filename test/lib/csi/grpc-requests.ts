import { readFileSync } from "node:fs";

/**
 * Requests of one call, as the host-path driver's log has them, each as its JSON text. What is not written to its end
 * yet is none.
 */
export function grpcRequests(logFile: string, call: string): string[] {
  const lines = readFileSync(logFile, "utf8").split("\n").slice(0, -1);
  const begin = "GRPC request: ";
  return lines
    .filter((_, i) => lines[i - 1]?.endsWith(call) === true)
    .map((line) => line.slice(line.indexOf(begin) + begin.length));
}
