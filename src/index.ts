/** The programmatic entry point: start a platform inside a test or a script. */
import './check/require-node.js'

export type { EndpointViolations, Violation } from './check/finding.js'
export { ProblemsError, StartError } from './check/problem.js'
export type { Mode } from './core/exchange.js'
export type { Fault } from './core/fault.js'
export type { Handler } from './http/mount.js'
export type { JournalEntry } from './journal/index.js'
export type { ConfigInput } from './platform/config/schema.js'
export type { Miss, Receipt } from './recordings/index.js'
export type { RuleInput } from './replies/index.js'
export type { Scope, Scope as ConnectedScope, Scope as SharedScope, UserScope } from './testing/abilities.js'
export type {
  SharedPlatform,
  SharedPlatform as ConnectedPlatform,
  TestClock as Clock,
  TestEnvironment as Environment,
} from './testing/client.js'
export { type ConnectOptions, connect } from './testing/connect.js'
export type { KeyOptions, SignInOptions, TestSession as SignedIn } from './testing/credentials.js'
export type { ExchangeFilter, ExchangeQuery } from './testing/exchange-filter.js'
export type { HeldRequests, HeldRequests as SharedHeldRequests, HoldInput as HoldOptions } from './testing/hold.js'
export type { TestReset as ResetOptions } from './testing/input-check.js'
export type { TestJournal } from './testing/journal.js'
export type { MessageFilter, Outbox, OutboxMessage } from './testing/outbox.js'
export {
  type Platform,
  type PlatformOptions,
  startPlatform,
} from './testing/platform.js'
export type { AddedReply, FailOptions, ReplyInput, ReplyOptions } from './testing/reply.js'
export type { IdleOptions } from './testing/waiting.js'
