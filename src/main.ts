import { ConfigError, parseConfig } from "./config.ts";
import { messageOf } from "./errors.ts";
import { followLogLevel } from "./follow-log-level.ts";
import { whyNotOn } from "./host/linux/syscall/architecture.ts";
import { logWarnings } from "./log-warnings.ts";
import { answerTo } from "./usage.ts";

/** Exit codes: 0 ended as asked, 1 failed, 2 the configuration is wrong, 130 ended at once by a second signal. */
const exitCode = { failed: 1, badConfiguration: 2, interrupted: 130 } as const;

/** Which image has the bundle of a role (Dockerfile). */
const imageWith: { readonly [role: string]: string } = {
  controller: "node-volume-operator-controller",
  "api-proxy": "node-volume-operator-controller",
  agent: "node-volume-operator-agent",
  child: "node-volume-operator-agent",
};

/**
 * Runs the role that the first argument names: controller, agent, api-proxy, or child, which the agent starts for
 * itself.
 */
async function main(argv: readonly string[]): Promise<number> {
  if (argv[0] === "child") {
    refuseOtherProcessors();
    const { runChild } = await import("./host/linux/child-main.ts");
    return runChild();
  }
  const answer = answerTo(argv);
  if (answer !== undefined) {
    process.stdout.write(answer);
    return 0;
  }
  const config = parseConfig(argv, process.env);
  const createLogger = await loggerMaker();
  const log = createLogger(config.logLevel, { role: config.role });
  logWarnings(process, log);
  if (config.logLevelDir !== undefined) {
    followLogLevel({ directory: config.logLevelDir, who: config, atStart: config.logLevel, log });
  }
  const ending = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => {
    if (ending.signal.aborted) process.exit(exitCode.interrupted);
    log.info("ending; a second signal ends at once", { signal });
    ending.abort();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  if (config.role === "controller") {
    const { runController } = await import("./controller/run.ts");
    await runController(config, log, ending.signal);
  } else if (config.role === "api-proxy") {
    const { runApiProxy } = await import("./api-proxy/run.ts");
    await runApiProxy(config, log, ending.signal);
  } else {
    refuseOtherProcessors();
    const { runAgent } = await import("./agent/run.ts");
    await runAgent(config, log, ending.signal);
  }
  log.info("ended");
  return 0;
}

/** Before what has native code is loaded, which is not there for others. @throws ConfigError */
function refuseOtherProcessors(): void {
  const why = whyNotOn(process.arch);
  if (why !== undefined) throw new ConfigError(why);
}

/** Only now: loading its library takes a quarter of the time in which a child starts, which logs nothing. */
async function loggerMaker() {
  return (await import("./log.ts")).createLogger;
}

async function failed(error: unknown): Promise<number> {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    return exitCode.badConfiguration;
  }
  const [, role = ""] = /^Cannot find module '\S*\/([\w-]+)\.cjs'/.exec(messageOf(error)) ?? [];
  const image = imageWith[role];
  if (image !== undefined) {
    process.stderr.write(`this image has no ${role}: run it from ${image}\n`);
    return exitCode.badConfiguration;
  }
  const createLogger = await loggerMaker();
  createLogger("error", {}).error("failed", {
    error: messageOf(error),
    stack: error instanceof Error ? error.stack : "",
  });
  return exitCode.failed;
}

// Some library may still hold a timer or a socket when all work has ended, so the process does not wait for them.
void main(process.argv.slice(2))
  .catch(failed)
  .then((code) => process.exit(code));
