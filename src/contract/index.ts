/** The contract: its clauses, and what judges a target by them. The only entry point of this folder. */

export type { BrokenVerdict, Clause, ClauseVerdict, SkippedVerdict } from './clause.js'
export { type ClauseResult, judgeAll, wantedOf } from './clause.js'
export { clauses } from './clauses.js'
export { type Section, sections, silent, type UncheckedStatement } from './document.js'
export type {
  Call,
  CallResult,
  ReceivedAnswer,
  Send,
  ShownCall,
  Target,
  TargetCredentials,
  TargetOptions,
} from './target.js'
export { createTarget } from './target.js'
