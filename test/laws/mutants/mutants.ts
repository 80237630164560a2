import type { Mutant } from "./mutant.ts";
import { ofKnowledge } from "./of-knowledge.ts";
import { ofOwnership } from "./of-ownership.ts";
import { ofPlanner } from "./of-planner.ts";
import { ofResult } from "./of-result.ts";

export const mutants: readonly Mutant[] = [...ofKnowledge, ...ofOwnership, ...ofResult, ...ofPlanner];
