/** Paths: those that are Standin's own, those that ask a model, and patterns with `*` and `?`. */

/** Control API and what else is ours. */
export const CONTROL = '/__standin'
/** The platform's user dashboard. */
export const DASHBOARD = '/dashboard'
/** The auth backend, where Supabase's clients look for it. */
export const AUTH = '/auth/v1'

/** Marks requests that the dashboard itself makes; without `journal.dashboard` they are neither logged nor kept. */
export const DASHBOARD_HEADER = 'x-standin-dashboard'

const isUnder = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`)

/** Whether a path is answered by Standin itself rather than by the platform or its auth backend. */
export const isReserved = (path: string) => isUnder(path, CONTROL) || isUnder(path, DASHBOARD)

/** Whether a path is one of the control API. */
export const isControl = (path: string) => isUnder(path, CONTROL)

/** Whether a path belongs to the auth backend. */
export const isAuth = (path: string) => isUnder(path, AUTH)

/** Finds requests that ask a model and leave nothing behind, and so may be asked again. */
const asking = /\/(chat\/completions|completions|embeddings|moderations|responses)\/?$/

export const asksModel = (method: string, path: string) => method === 'POST' && asking.test(path)

/** Patterns of names in which `*` stands for anything, slashes included, and `?` for any one character. */
export interface Pattern {
  test(name: string): boolean
}

/** What matches the whole of `written`, in time that grows with the length of a name and not with the number of stars. */
export function glob(written: string): Pattern {
  const [first = '', ...rest] = written.split(/\*+/)
  const last = rest.pop()
  if (last === undefined) return new RegExp(`^${inExpression(first)}$`, 's')
  const around = new RegExp(`^${inExpression(first)}.*${inExpression(last)}$`, 's')
  if (rest.length === 0) return around
  const between = rest.map(part => new RegExp(inExpression(part), 'gs'))
  return {
    test(name) {
      if (!around.test(name)) return false
      let place = first.length
      // Each is taken where it comes first: if the rest does not fit behind that, it fits nowhere.
      for (const part of between) {
        part.lastIndex = place
        if (!part.test(name)) return false
        place = part.lastIndex
      }
      return place <= name.length - last.length
    },
  }
}

const inExpression = (part: string) => part.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('?', '.')
