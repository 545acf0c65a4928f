/** Judges what a client made of what happened to its session: only what Standin saw counts, and only what no right client does. */

import type { ClientCall } from './calls.js'
import { isChanging } from './effects.js'
import type { Evidence, FindVerdict, RunFacts, VerdictCode } from './verdict.js'

export const sessionJudges = {
  'signed-out-by-429': run => (run.fault.status === 429 ? signedOut(run) : undefined),
  'signed-out': run => (run.fault.status === 429 ? undefined : signedOut(run)),
  'refresh-storm': refreshStorm,
  'stale-session-used': staleSessionUsed,
  'work-lost': workLost,
  'served-after-revocation': servedAfterRevocation,
} as const satisfies Readonly<Partial<Record<VerdictCode, FindVerdict>>>

export const isRefresh = ({ kind, path, query }: ClientCall): boolean =>
  kind === 'auth' && path.endsWith('/token') && query.includes('grant_type=refresh_token')

/** Whether it asks Supabase Auth who the user is, and so whether the session still exists. */
export const isUserCheck = ({ kind, method, path }: Pick<ClientCall, 'kind' | 'method' | 'path'>): boolean =>
  kind === 'auth' && method === 'GET' && path.endsWith('/user')

/** The failures of one call that came more often than this within a time. */
export function stormOf(failures: readonly ClientCall[], most: number, withinMs: number) {
  const first = failures.find(({ startMs }, i) => (failures[i + most]?.startMs ?? Infinity) - startMs < withinMs)
  return first && failures.filter(({ startMs }) => startMs >= first.startMs && startMs < first.startMs + withinMs)
}

const isRefused = ({ caller, session }: ClientCall) =>
  session.used !== undefined && caller.kind === 'refused' && caller.tried.kind === 'token'
const hasFailed = ({ status }: ClientCall) => status === null || status >= 400
const isSamePath = (one: ClientCall, other: ClientCall) => one.method === other.method && one.path === other.path
const isLater = (one: ClientCall, other: ClientCall) => one.startMs >= other.endMs

/** The last session that Supabase Auth had granted for a refresh token when it was presented. */
const grantOf = ({ session: { refreshToken } }: ClientCall, calls: readonly ClientCall[]) =>
  calls.find(({ session }) => refreshToken !== undefined && session.granted?.refreshToken === refreshToken)?.session
    .granted

/** After a refresh that failed for a moment only: the client ended the session, or went on without it. */
function signedOut({ hit, fault, calls, later, before }: RunFacts): Evidence | undefined {
  const isPassing = fault.status === 429 || (fault.status ?? 0) >= 500 || fault.lostAnswer === true
  if (!isRefresh(hit) || !isPassing) return undefined
  const grant = grantOf(hit, calls)
  if (!grant) return undefined
  const isOfSession = ({ session: { used } }: ClientCall) => used?.id === grant.id
  const isLogout = ({ kind, path }: ClientCall) => kind === 'auth' && path.endsWith('/logout')
  const isWithout = ({ kind, caller }: ClientCall) =>
    kind !== 'auth' && (caller.kind === 'anon' || caller.kind === 'anonymous')
  const earlier = [...(before ?? []), ...calls.slice(0, calls.indexOf(hit))]
  const isOtherwiseOfUser = (call: ClientCall) => {
    const same = earlier.filter(({ key }) => key === call.key)
    return same.some(({ caller }) => caller.kind === 'user') && !same.some(isWithout)
  }
  const logout = before && !before.some(isLogout) && later.find(call => isLogout(call) && isOfSession(call))
  const without = later.find(
    call =>
      isWithout(call) && isOtherwiseOfUser(call) && !later.some(one => one.startMs >= call.startMs && isOfSession(one)),
  )
  const shown = logout || without
  if (!shown) return undefined
  const how = logout ? 'the app ended the session' : `${without?.title} came without it`
  const why = fault.lostAnswer ? 'The answer of a refresh was lost' : `A refresh got a ${fault.status}`
  const last = calls.findLast(({ session, complete, startMs }) => {
    return session.granted?.id === grant.id && complete && startMs < shown.startMs
  })?.session.granted
  // The client of Supabase itself gives up a session whose token has expired.
  const hasExpired = (last ?? grant).expiresAt * 1000 <= shown.startMs
  return {
    sentence: `${why}. The session is still good, but ${how}${hasExpired ? ', after its token had expired' : ''}.`,
    calls: [hit, shown],
    ...(hasExpired && { isBug: false }),
  }
}

/** How often the client of Supabase sends a refresh within these times. The longer one is for slow machines. */
const usualRefreshes = [
  { withinMs: 2000, attempts: 4 },
  { withinMs: 8000, attempts: 6 },
]
const LEAST_STORM = 20

/** Each request to a server has a client of its own there, each of which may refresh, and may do so twice. */
function refreshStorm({ hit, fault, calls, before }: RunFacts): Evidence | undefined {
  const { refreshToken } = hit.session
  if (!isRefresh(hit) || (fault.status === undefined && fault.session === undefined && !fault.lostAnswer))
    return undefined
  const failures = calls.filter(
    call => isRefresh(call) && call.session.refreshToken === refreshToken && hasFailed(call),
  )
  const clients = 1 + (before ?? calls).filter(({ session }) => session.used).length
  for (const { withinMs, attempts } of usualRefreshes) {
    const storm = stormOf(failures, Math.max(LEAST_STORM, 2 * attempts * clients), withinMs)
    if (storm)
      return {
        sentence: `The refresh failed, and came ${storm.length} times within ${withinMs / 1000} s with the same refresh token; the client of Supabase would send it ${attempts} times.`,
        calls: storm,
      }
  }
  return undefined
}

/** Requests that were under way when the token changed end within this time. */
const UNDER_WAY_MS = 500
const LEAST_STALE_USES = 2

/** The client knew that its token is refused, got another one, and went on with the old one, again and again. */
function staleSessionUsed({ fault, calls }: RunFacts): Evidence | undefined {
  if (fault.session === undefined) return undefined
  const refused = calls.filter(isRefused)
  const firsts = new Map(refused.toReversed().map(call => [call.session.used?.token, call]))
  for (const [token, first] of firsts) {
    const newer = calls.find(
      ({ session: { granted }, complete, startMs }) =>
        granted?.user === first.session.used?.user && granted?.token !== token && complete && startMs >= first.startMs,
    )
    const found = newer && usedAfter(newer, first, calls)
    if (found) return found
  }
  return undefined
}

function usedAfter(newer: ClientCall, first: ClientCall, calls: readonly ClientCall[]): Evidence | undefined {
  const { token } = first.session.used ?? {}
  const later = calls.filter(call => isLater(call, newer))
  const { refreshToken } = calls.find(({ session }) => session.granted?.token === token)?.session.granted ?? {}
  // Another browser with the same session would refresh it as well.
  const refreshes = later.filter(
    call => isRefresh(call) && (refreshToken === undefined || call.session.refreshToken === refreshToken),
  )
  const tokenOf = ({ session: { used } }: ClientCall) => used?.token
  const isOld = (call: ClientCall) => call.kind !== 'auth' && tokenOf(call) === token && isRefused(call)
  for (const one of later.filter(isOld)) {
    const same = later.filter(call => isSamePath(call, one) && tokenOf(call) !== undefined)
    const uses = apart(same.filter(isOld), newer.endMs)
    const isMended = same.some(call => tokenOf(call) !== token)
    if (!isMended && uses.length - refreshes.length >= LEAST_STALE_USES)
      return {
        sentence: `The token of the session was refused, and the app got a new one. ${one.method} ${one.path} still came with the old one, ${uses.length} times, and was refused.`,
        calls: [first, newer, ...uses],
      }
  }
  return undefined
}

/** Calls after this moment, each some time after the one before it. */
function apart(calls: readonly ClientCall[], sinceMs: number): readonly ClientCall[] {
  let lastMs = sinceMs
  return calls.filter(({ startMs, endMs }) => {
    if (startMs < lastMs + UNDER_WAY_MS) return false
    lastMs = endMs
    return true
  })
}

/** A refresh would have mended it. Without a new token, and in a run that fails, somebody may have been told. */
function workLost({ fault, hit, calls, before, end }: RunFacts): Evidence | undefined {
  if (end === 'killed' || (fault.session !== 'clock-ahead' && fault.session !== 'key-rotated')) return undefined
  const lost = calls.find(
    call =>
      call.startMs >= hit.startMs &&
      call.method === 'POST' &&
      isChanging(call) &&
      isRefused(call) &&
      !calls.some(one => one.startMs > call.startMs && isSamePath(one, call) && !hasFailed(one)) &&
      before?.some(one => one.key === call.key && !hasFailed(one)) !== false,
  )
  if (!lost) return undefined
  const sentence = `${lost.title} was refused, since the token of the session was too old, and was never sent again`
  const { token, user } = lost.session.used ?? {}
  const hasNewToken = calls.some(
    call =>
      call.session.used?.user === user && call.session.used?.token !== token && isLater(call, lost) && !hasFailed(call),
  )
  const isSilent = end === 'passed' && hasNewToken
  const how = isSilent ? 'The app went on with a new token, and the run passes' : 'The app may have said so'
  return { sentence: `${sentence}. ${how}.`, calls: [lost], ...(!isSilent && { isBug: false }) }
}

/** A server checks the session right before what it does for a user. */
const RIGHT_AFTER_MS = 1000
const CLOCK_MS = 2
const TOGETHER_MS = 100

/** The app asked whether the session exists, got a no, and did for its user what it does after a yes. */
function servedAfterRevocation({ fault, hit, calls, later, before }: RunFacts): Evidence | undefined {
  const { user } = hit.session.used ?? {}
  if (user === undefined || !before || (fault.session !== 'revoked' && fault.session !== 'banned')) return undefined
  const isCheck = (call: ClientCall) => isUserCheck(call) && call.session.used?.user === user && call.complete
  const [checks, checksBefore] = [calls.filter(isCheck), before.filter(isCheck)]
  if (checks.some(({ startMs, status }) => status === 200 && startMs >= hit.startMs)) return undefined
  const lastBefore = ({ startMs }: ClientCall, all: readonly ClientCall[]) =>
    all.findLast(({ endMs }) => endMs <= startMs + CLOCK_MS && startMs - endMs <= RIGHT_AFTER_MS)
  const isAsking = ({ startMs }: ClientCall) =>
    checks.some(check => check.startMs <= startMs + TOGETHER_MS && check.endMs > startMs + CLOCK_MS)
  for (const call of [hit, ...later]) {
    const check = lastBefore(call, checks)
    const twins = before.filter(({ key }) => key === call.key)
    const isUsuallyChecked = twins.length > 0 && twins.every(twin => lastBefore(twin, checksBefore)?.status === 200)
    if (isForUser(call, user) && check && hasFailed(check) && isUsuallyChecked && !isAsking(call))
      return {
        sentence: `The app asked whether the session still exists, and got a ${check.status}. It then sent ${call.title} for the same user with a key of its own, as it does for a session that exists.`,
        calls: [hit, check, call],
      }
  }
  return undefined
}

/** Whether a server did this for a user, whom it names, with its own key. */
const isForUser = ({ caller, kind, status, path, query, body }: ClientCall, user: string) =>
  (caller.kind === 'service' || caller.kind === 'apiKey') &&
  kind !== 'auth' &&
  status !== null &&
  status < 400 &&
  `${path}?${query} ${JSON.stringify(body ?? '')}`.includes(user)
