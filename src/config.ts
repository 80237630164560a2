import { parseArgs } from "node:util";
import { systemNamespace } from "./api/names.ts";
import { apartFrom, ConfigError, split } from "./config-values.ts";
import {
  agentSettings,
  allSettings,
  apiSettings,
  type Config,
  commonSettings,
  controllerSettings,
  type Env,
  processSettings,
  proxySettings,
  type Setting,
  type Settings,
  type ValuesOf,
} from "./configuration.ts";

export type * from "./configuration.ts";
export { ConfigError };

type Given = { readonly [flag: string]: readonly string[] | undefined };

/**
 * Flags and environment → a frozen configuration of one role. The only reader of process.env and process.argv.
 * Most flags have an environment variable beside them, because that is how kustomize hands in what both roles share.
 * @throws ConfigError
 */
export function parseConfig(argv: readonly string[], env: Env): Config {
  const [role, ...rest] = argv;
  if (role !== "controller" && role !== "agent" && role !== "api-proxy") {
    const roles = "controller or agent, or api-proxy";
    throw new ConfigError(`the first argument is the role: ${roles}, not ${JSON.stringify(role ?? "")}`);
  }
  const given = parseFlags(rest);
  ownNamespace(env["NODEVOLUME_NAMESPACE"]);
  const ofProcess = { api: read(apiSettings, given, env), ...read(processSettings, given, env) };
  if (role === "api-proxy") return Object.freeze({ ...ofProcess, role, ...read(proxySettings, given, env) });
  const common = { ...ofProcess, ...read(commonSettings, given, env) };
  if (role === "controller") return Object.freeze({ ...common, role, ...read(controllerSettings, given, env) });
  const own = read(agentSettings, given, env);
  apartFrom(common.allowedPrefixes, own.stateDir);
  return Object.freeze({ ...common, role, ...own });
}

/** The values of the settings. @throws ConfigError */
function read<S extends Settings>(settings: S, given: Given, env: Env): ValuesOf<S> {
  const textOf = ({ flag, env: variable, default: other }: Setting): string => {
    const text = given[flag]?.at(-1) ?? (variable === undefined ? undefined : env[variable]);
    if (other === undefined && (text ?? "") === "") throw new ConfigError(`--${flag} (or ${variable}) is needed`);
    return text ?? (typeof other === "function" ? other(env, textOf) : (other ?? ""));
  };
  const values = Object.entries(settings).map(([field, setting]) => {
    const { flag } = setting;
    if (setting.list) return [field, setting.parse(given[flag] ?? split(textOf(setting)))];
    return [field, setting.parse(textOf(setting), `--${flag}`)];
  });
  return Object.fromEntries(values) as ValuesOf<S>;
}

function parseFlags(args: string[]): Given {
  const options = Object.fromEntries(
    allSettings.map(({ flag }) => [flag, { type: "string", multiple: true } as const]),
  );
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Leases, RBAC and FlowSchemas name it, and an overlay's `namespace:` changes some of that. @throws ConfigError */
function ownNamespace(name: string | undefined): void {
  if (name === undefined || name === systemNamespace) return;
  throw new ConfigError(
    `this pod is in the namespace ${JSON.stringify(name)}, and runs in ${systemNamespace} alone: take namespace: out of the overlay`,
  );
}
