/** The contract: the platform's document as clauses that tests can check. Exported as `standin/contract`. */

export type { Call, CallResult, ReceivedAnswer, Send, ShownCall, TargetCredentials } from './call.js'
export type { BrokenVerdict, Clause, ClauseVerdict, Section, SkippedVerdict } from './clause.js'
export { type ClauseResult, judgeAll, sections, wantedOf } from './clause.js'
export { clauses, silent, type UncheckedStatement } from './clauses/index.js'
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
