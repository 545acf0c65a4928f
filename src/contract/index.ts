/** The contract: the platform's document as clauses, and what judges a target by them. */
export { type Comparison, compareAnswers, type Difference } from './against.js'
export { answersOf, type ComparedAnswer } from './answer-of.js'
export { type Baseline, readBaseline, writeBaseline } from './baseline.js'
export type { Answered, Call, Credentials, Heard, Send } from './call.js'
export { type Clause, type Section, sections } from './clause.js'
export { clauses } from './clauses/index.js'
export type { Handler } from './handler.js'
export { type Finding, judgeAll } from './run.js'
export { type Silent, silent } from './silent.js'
export {
  ContractError,
  type ContractTest,
  contractSuite,
  contractTests,
  type Runner,
  type SuiteOptions,
  type SuiteTarget,
} from './suite.js'
export { createTarget, type Target, type TargetOptions, USUAL_MAX_CALLS } from './target.js'
export type { Broken, Shown, Skipped, Verdict } from './verdict.js'
export { wantedOf } from './wanted.js'
