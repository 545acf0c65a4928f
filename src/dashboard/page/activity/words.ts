/** Requests in the words of their rows, and the runs of agents, whose steps belong together. */
import type { JournalBrief, JournalFlight } from '../../../journal/operations.js'
import { decisionOf } from '../wording.js'

type Asked = Pick<JournalFlight, 'method' | 'path' | 'endpoint' | 'call' | 'prompt' | 'account'>

const CHAT = 'POST /v1/chat/completions'
const AUTH = '/auth/v1/'

/** `chat`, `tool`, `otp`, or the method. */
export function kindOf({ method, path, endpoint, call, prompt }: Asked): string {
  if (prompt !== null || endpoint === CHAT || path.endsWith('/chat/completions')) return 'chat'
  if (call !== null) return call.startsWith('tools/call') ? 'tool' : 'mcp'
  return path.startsWith(AUTH) ? path.slice(AUTH.length) : method
}

/** The prompt, the tool, the account, or the path. */
export function subjectOf({ path, call, prompt, account, ...asked }: Asked): string {
  if (prompt !== null) return prompt
  if (call !== null) return call.replace(/^tools\/call /, '')
  return (
    account ?? (kindOf({ path, call, prompt, account, ...asked }) === 'chat' ? 'a chat without a user message' : path)
  )
}

const value = (json: string | undefined) => json ?? 'absent'

/** Where a request differs from the nearest recording: `temperature 0.7, recorded 0.2`. */
export function differenceOf({ nearest }: Pick<JournalBrief, 'nearest'>): string | undefined {
  const [first, ...others] = nearest?.differences ?? []
  if (!first) return undefined
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return `${first.field} ${value(first.asked)}, recorded ${value(first.recorded)}${more}`
}

/** What requests to the auth backend do, by the ends of their paths. */
const done: Readonly<Record<string, string>> = {
  signup: 'signed up',
  token: 'signed in, or renewed a session',
  otp: 'asked for a code or a link',
  magiclink: 'asked for a link',
  recover: 'asked for a new password',
  resend: 'asked for a message again',
  verify: 'used a code or a link',
  logout: 'signed out',
  user: 'read or changed the account',
  invite: 'invited someone',
  reauthenticate: 'asked for a code',
}

/** Why the request got its answer: for a miss, the difference itself. */
export function reasonOf(brief: JournalBrief): string {
  const difference = differenceOf(brief)
  if ((brief.status ?? 500) < 400 && brief.path.startsWith(AUTH)) return done[kindOf(brief)] ?? ''
  return brief.code === 'no_recording' ? (difference ?? 'nothing like it is recorded') : decisionOf(brief)
}

export interface AgentRun {
  readonly id: string
  /** The oldest first. */
  readonly steps: readonly JournalBrief[]
}

/** Newest first. A run is where its newest step is. */
export function itemsOf(rows: readonly JournalBrief[]): readonly (JournalBrief | AgentRun)[] {
  const byRun = Map.groupBy(rows, ({ run }) => run)
  return rows.flatMap((row): readonly (JournalBrief | AgentRun)[] => {
    const steps = byRun.get(row.run) ?? []
    if (steps.length === 1) return [row]
    return row === steps[0] ? [{ id: row.run, steps: steps.toReversed() }] : []
  })
}

const startOf = ({ at }: JournalBrief) => Date.parse(at)

/** When a run began, how long it took, and its tokens. */
export function factsOfRun({ steps }: AgentRun) {
  const startMs = Math.min(...steps.map(startOf))
  const endMs = Math.max(...steps.map(step => startOf(step) + step.durationMs))
  const tokens = steps.reduce((sum, { tokens }) => sum + (tokens ? tokens.prompt + tokens.completion : 0), 0)
  return { startMs, durationMs: endMs - startMs, tokens }
}
