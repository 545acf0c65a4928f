/** The contract: the platform's document as clauses that tests can check. Exported as `standin/contract`. */

export type { Answered, Call, CallResult, Send, ShownCall, TargetCredentials } from './call.js'
export type { Broken, Clause, ClauseVerdict, Section, Skipped } from './clause.js'
export { type ClauseResult, judgeAll, sections, wantedOf } from './clause.js'
export { clauses, type Silent, silent } from './clauses/index.js'
export {
  ContractError,
  type ContractTest,
  contractSuite,
  contractTests,
  type SuiteOptions,
  type SuiteTarget,
  type TargetHandler,
  type TestFunctions,
} from './suite.js'
export { createTarget, type Target, type TargetOptions } from './target.js'
