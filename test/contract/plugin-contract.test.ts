import { cases } from "./cases.ts";
import { contractOf } from "./suite.ts";

for (const of of cases) contractOf(of);
