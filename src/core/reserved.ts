/** The paths that are Standin's own; every other path belongs to the platform. */

/** Control API and what else is ours. */
export const CONTROL = '/__standin'
/** The platform's user dashboard. */
export const DASHBOARD = '/dashboard'
/** The auth backend, where Supabase's clients look for it. */
export const AUTH = '/auth/v1'

const isUnder = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`)

/** Whether a path is answered by Standin itself rather than by the platform or its auth backend. */
export const isReserved = (path: string) => isUnder(path, CONTROL) || isUnder(path, DASHBOARD)

/** Whether a path is one of the control API. */
export const isControl = (path: string) => isUnder(path, CONTROL)

/** Whether a path belongs to the auth backend. */
export const isAuth = (path: string) => isUnder(path, AUTH)
