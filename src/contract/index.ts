/** The contract: the platform's document as clauses, to be checked in tests. What the package exports as `standin/contract`. */

export type { Answered, Call, Credentials, Heard, Send, Shown } from './call.js'
export type { Broken, Clause, Section, Skipped, Verdict } from './clause.js'
export { type ClauseResult, judgeAll, sections, wantedOf } from './clause.js'
export { clauses } from './clauses/index.js'
export { type Silent, silent } from './silent.js'
export {
  ContractError,
  type ContractTest,
  contractSuite,
  contractTests,
  type Handler,
  type Runner,
  type SuiteOptions,
  type SuiteTarget,
} from './suite.js'
export { createTarget, type Target, type TargetOptions } from './target.js'
