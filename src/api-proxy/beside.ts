import * as http from "node:http";
import type { Registry } from "prom-client";

/** Where the agent serves its metrics, for this machine alone. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** What a health server serves at /metrics. */
export type Metrics = Pick<Registry, "contentType" | "metrics">;

/** Milliseconds for the agent's figures to come. */
const deadlineMs = 5_000;
/** An agent with 1,000 volumes has some 200 kB of them. */
const longest = 16 * 1024 * 1024;

/**
 * Our metrics and, behind them, the agent's: whoever scrapes the node asks this process, and none that is root. The
 * whole fails if the agent does not answer, so that what watches for agents that are gone sees it.
 */
export function metricsBeside(own: Registry, agent: Place | undefined): Metrics {
  if (agent === undefined) return own;
  // One read at a time, however many ask: what is root gives nobody in the network more than that to do.
  let reading: Promise<string> | undefined;
  const ofAgent = () => {
    reading ??= read(agent).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    contentType: own.contentType,
    async metrics() {
      const [ours, theirs] = await Promise.all([own.metrics(), ofAgent()]);
      return `${theirs.trimEnd()}\n${ours}`;
    },
  };
}

function read({ host, port }: Place): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.get({ host, port, path: "/metrics", agent: false, timeout: deadlineMs });
    const failed = (error: Error) => reject(new Error(`the agent's metrics cannot be read: ${error.message}`));
    request.on("timeout", () => request.destroy(new Error(`no answer within ${deadlineMs} ms`)));
    request.on("error", failed);
    request.on("response", (head) => {
      let text = "";
      head.setEncoding("utf8");
      head.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > longest) request.destroy(new Error(`more than ${longest} characters`));
      });
      head.on("error", failed);
      head.on("end", () => {
        if (head.statusCode === 200) resolve(text);
        else failed(new Error(`status ${head.statusCode}`));
      });
    });
  });
}
