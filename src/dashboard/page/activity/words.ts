/** Requests in the words of their rows, and the runs of agents, whose steps belong together. */
import type { JournalBrief, JournalFlight } from '../../../journal/operations.js'
import { isObject, parsed } from '../widgets/json.js'
import { decisionOf } from '../wording.js'

type Asked = Pick<JournalFlight, 'method' | 'path' | 'name' | 'call' | 'prompt' | 'account'>

const AUTH = '/auth/v1/'

/** `chat`, or another documented endpoint, `tool`, `otp`, or the method. */
export function kindOf({ method, path, name, call, prompt }: Asked): string {
  if (name !== null) return name
  if (prompt !== null) return 'chat'
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

/** Shorter beginnings are read at a glance. */
const LEAST_PREAMBLE = 40

/** The titles of prompts that share a long beginning with another one, which is left out: what varies is shown. */
export function titlesOf(rows: readonly JournalBrief[]): ReadonlyMap<string | null, string> {
  const prompts = [...new Set(rows.map(({ prompt }) => prompt ?? ''))].sort()
  const titles = prompts.map((prompt, i) => {
    const shared = Math.max(sharedLength(prompt, prompts[i - 1]), sharedLength(prompt, prompts[i + 1]))
    // From the beginning of the first word that differs.
    let from = shared
    while (from > 0 && /\S/.test(prompt.charAt(from - 1))) from--
    const rest = prompt.slice(from)
    return [prompt, shared < LEAST_PREAMBLE || rest.trim() === '' ? prompt : `… ${rest}`] as const
  })
  return new Map(titles)
}

function sharedLength(one: string, other = ''): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}

const value = (json: string | undefined) => json ?? 'absent'

/** Where a request differs from the nearest recording: `temperature 0.7, recorded 0.2`. */
function differenceOf({ nearest }: Pick<JournalBrief, 'nearest'>): string | undefined {
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

/** Names of recordings without their folder, which is the same for all. */
const withoutFolder = (reason: string) => reason.replace(/recording \S*\//, 'recording ')

/** Why the request got its answer: for a miss, the difference itself. */
export function reasonOf(brief: JournalBrief): string {
  const difference = differenceOf(brief)
  if ((brief.status ?? 500) < 400 && brief.path.startsWith(AUTH)) return done[kindOf(brief)] ?? ''
  return brief.code === 'no_recording'
    ? (difference ?? 'nothing like it is recorded')
    : withoutFolder(decisionOf(brief))
}

export interface AgentRun {
  readonly id: string
  /** The oldest first. */
  readonly steps: readonly JournalBrief[]
  /** What it is waiting for now. */
  readonly flights: readonly JournalFlight[]
}

/** Newest first. A run is where its newest step is; requests in flight stand in their run. */
export function itemsOf(
  rows: readonly JournalBrief[],
  flights: readonly JournalFlight[] = [],
): readonly (JournalBrief | AgentRun)[] {
  const byRun = Map.groupBy(rows, ({ run }) => run)
  const flying = Map.groupBy(flights, ({ run }) => run)
  return rows.flatMap((row): readonly (JournalBrief | AgentRun)[] => {
    const steps = byRun.get(row.run) ?? []
    const own = flying.get(row.run) ?? []
    if (steps.length === 1 && own.length === 0) return [row]
    return row === steps[0] ? [{ id: row.run, steps: steps.toReversed(), flights: own }] : []
  })
}

const startOf = ({ at }: { readonly at: string }) => Date.parse(at)

/** When a run began, how long it has taken, its tokens, and the worst status in it. */
export function factsOfRun({ steps, flights }: AgentRun, nowMs: number) {
  const startMs = Math.min(...steps.map(startOf))
  const ends = steps.map(step => startOf(step) + step.durationMs)
  const endMs = Math.max(...ends, ...flights.map(() => nowMs))
  const tokens = steps.reduce((sum, { tokens }) => sum + (tokens ? tokens.prompt + tokens.completion : 0), 0)
  const statuses = steps.map(({ status }) => status ?? 599)
  const worst = Math.max(...statuses)
  const slowestMs = Math.max(...steps.map(({ durationMs }) => durationMs))
  return {
    startMs,
    durationMs: endMs - startMs,
    tokens,
    slowestMs,
    ...(worst >= 400 && { worst: steps[statuses.indexOf(worst)]?.status ?? null }),
  }
}

/** A step, a request in flight, or the time in between that the app itself took. */
export type Span = { readonly afterMs: number; readonly durationMs: number } & (
  | { readonly kind: 'step'; readonly of: JournalBrief }
  | { readonly kind: 'flight'; readonly of: JournalFlight }
  | { readonly kind: 'app' }
)

/** Shorter gaps are the network's, and say nothing. */
const LEAST_GAP_MS = 20
const LEAST_GAP_PART = 0.03

/** The spans of a run in their order, with the gaps between them. */
export function spansOf(
  { steps, flights }: AgentRun,
  startMs: number,
  durationMs: number,
  nowMs: number,
): readonly Span[] {
  const all = [
    ...steps.map(of => ({ kind: 'step', of, afterMs: startOf(of) - startMs, durationMs: of.durationMs }) as const),
    ...flights.map(of => {
      const afterMs = startOf(of) - startMs
      return { kind: 'flight', of, afterMs, durationMs: Math.max(0, nowMs - startMs - afterMs) } as const
    }),
  ].sort((a, b) => a.afterMs - b.afterMs)
  let endMs = 0
  return all.flatMap((span): readonly Span[] => {
    const gapMs = span.afterMs - endMs
    const gap = { kind: 'app', afterMs: endMs, durationMs: gapMs } as const
    endMs = Math.max(endMs, span.afterMs + span.durationMs)
    return gapMs >= Math.max(LEAST_GAP_MS, durationMs * LEAST_GAP_PART) ? [gap, span] : [span]
  })
}

/** The times on a scale of this length: four or five, in round numbers. */
export function ticksOf(durationMs: number): readonly number[] {
  const rough = Math.max(durationMs, 1) / 4
  const size = 10 ** Math.floor(Math.log10(rough))
  const step = size * ([1, 2, 5, 10].find(one => one * size >= rough) ?? 10)
  return Array.from({ length: Math.floor(durationMs / step) + 1 }, (_, i) => i * step)
}

/** `→ find_order(A-1042)`, what was said, or the tool or path that was asked for. */
export function labelOf(brief: JournalBrief): string {
  if (!brief.said) return subjectOf(brief)
  const called = /^→ (\S+) (\{.*\}|\S*)$/s.exec(brief.said)
  if (!called) return brief.said
  const given = parsed(called[2] ?? '')
  const values = isObject(given) ? Object.values(given) : [called[2]]
  return `→ ${called[1]}(${values.map(value => (typeof value === 'string' ? value : JSON.stringify(value))).join(', ')})`
}
