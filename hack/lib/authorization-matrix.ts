import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { root } from "./root.ts";

/** The verbs of the API server on objects. */
const allVerbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"] as const;
export type Verb = (typeof allVerbs)[number];

/** "allowed", "RBAC" where no role lets it through, else the ValidatingAdmissionPolicy that denies it. */
export type Verdict = "allowed" | "RBAC" | (string & {});

/** One object, or one change of it, and who may do what to it. */
export interface MatrixRow {
  readonly group: string;
  readonly what: string;
  /** Of the collection, as the API server has it: /api/v1/… */
  readonly path: string;
  /** Of the object in it. */
  readonly name: string;
  readonly subresource?: string;
  readonly verbs: readonly Verb[];
  /** Merge patch that `update` and `patch` try. */
  readonly change: object;
  /** What `create` sends, if not the object as it is. */
  readonly body?: object;
  /** Writes are no dry runs. */
  readonly real: boolean;
  /** What identity `who` gets for the verb. */
  verdict(who: string, verb: Verb): Verdict;
}

export interface Matrix {
  /** What each column is. */
  readonly identities: ReadonlyMap<string, string>;
  /** Names for several of them. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  readonly rows: readonly MatrixRow[];
}

interface MatrixFile {
  readonly identities: { readonly [name: string]: string };
  readonly groups: { readonly [name: string]: readonly string[] };
  readonly rows: readonly {
    readonly group: string;
    readonly path: string;
    readonly subresource?: string;
    readonly verbs?: string;
    readonly objects: readonly ObjectEntry[];
  }[];
}

interface ObjectEntry {
  readonly what: string;
  readonly name: string;
  readonly verbs?: string;
  readonly change?: object;
  readonly body?: object;
  readonly real?: boolean;
  readonly may?: Grants;
  readonly policy?: { readonly [policy: string]: Grants };
}

/** Verbs by identity, or by a list of identities and groups. */
type Grants = { readonly [who: string]: string };

const matrixFile = join(root, "test/authorization-matrix.yaml");

/** @throws Error naming an identity or a verb that there is not, or one that is said twice */
export function readMatrix(text = readFileSync(matrixFile, "utf8")): Matrix {
  const file = load(text) as MatrixFile;
  const identities = new Map(Object.entries(file.identities));
  const membersOf = (who: string): readonly string[] => {
    const members = file.groups[who] ?? [who];
    const unknown = members.find((member) => !identities.has(member));
    if (unknown !== undefined) throw new Error(`no such identity: ${unknown}`);
    return members;
  };
  const rows = file.rows.flatMap(({ group, path, subresource, verbs, objects }) =>
    objects.map((entry) => {
      const asked = verbsOf(entry.verbs ?? verbs ?? allVerbs.join(" "));
      const said = new Map<string, Verdict>();
      const say = (grants: Grants, verdict: Verdict) => {
        for (const [keys, granted] of Object.entries(grants)) {
          for (const who of keys.split(",").flatMap((key) => membersOf(key.trim()))) {
            for (const verb of verbsOf(granted)) {
              const at = `${group}, ${entry.what}: ${who} ${verb}`;
              if (!asked.includes(verb)) throw new Error(`not asked: ${at}`);
              if (said.has(`${who} ${verb}`)) throw new Error(`said twice: ${at}`);
              said.set(`${who} ${verb}`, verdict);
            }
          }
        }
      };
      say(entry.may ?? {}, "allowed");
      for (const [policy, grants] of Object.entries(entry.policy ?? {})) say(grants, policy);
      return {
        ...{ group, path, what: entry.what, name: entry.name, verbs: asked },
        ...{ change: entry.change ?? {}, real: entry.real === true },
        ...(subresource !== undefined && { subresource }),
        ...(entry.body !== undefined && { body: entry.body }),
        verdict: (who: string, verb: Verb) => said.get(`${who} ${verb}`) ?? "RBAC",
      };
    }),
  );
  return { identities, groups: new Map(Object.entries(file.groups)), rows };
}

function verbsOf(text: string): readonly Verb[] {
  return text.split(" ").map((word) => {
    const verb = allVerbs.find((known) => known === word);
    if (verb === undefined) throw new Error(`no such verb: ${word}`);
    return verb;
  });
}
