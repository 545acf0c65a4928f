/** Stores the sessions of `standin login` in a file outside any repository that only its owner can read. */
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { StartError } from '../check/problem.js'
import { jsonOf } from '../core/json.js'

/** A user who is signed in to a live auth backend. */
export interface StoredSession {
  readonly email: string
  readonly accessToken: string
  readonly refreshToken: string
  /** When the access token expires, as ISO 8601 in UTC. */
  readonly expiresAt: string
}

/** By the URL of the live auth backend. */
type Sessions = Readonly<Record<string, unknown>>

/** The path of the file: `~/.config/standin/sessions.json`, unless the environment says otherwise. */
export function sessionsFile({ XDG_CONFIG_HOME, APPDATA }: NodeJS.ProcessEnv = process.env): string {
  const configFolder = process.platform === 'win32' ? APPDATA : XDG_CONFIG_HOME
  // The XDG Base Directory Specification says to ignore a relative path.
  const folder = configFolder && path.isAbsolute(configFolder) ? configFolder : path.join(homedir(), '.config')
  return path.join(folder, 'standin', 'sessions.json')
}

const keyOf = (authUrl: string) => authUrl.replace(/\/+$/, '')

/**
 * Returns the session at a live auth backend, if there is one. Throws a StartError if the file cannot be used or others
 * can read it.
 */
export function readSession(file: string, authUrl: string): StoredSession | undefined {
  const session = sessionsIn(file)[keyOf(authUrl)]
  if (session === undefined || isSession(session)) return session
  throw unusable(file)
}

/** Replaces the session at a backend, or removes it. Throws a StartError as reading does. */
export function saveSession(file: string, authUrl: string, session: StoredSession | undefined): void {
  const sessions = { ...sessionsIn(file), [keyOf(authUrl)]: session }
  const folder = path.dirname(file)
  const newFile = `${file}.${randomUUID()}`
  orRefuse(file, () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    try {
      chmodSync(folder, 0o700)
      writeFileSync(newFile, `${JSON.stringify(sessions, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
      renameSync(newFile, file)
    } finally {
      rmSync(newFile, { force: true })
    }
  })
}

/** Throws a StartError if the file or its folder cannot be used. */
function orRefuse<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new StartError(`${file} cannot be used (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function sessionsIn(file: string): Sessions {
  // A path below a file does not exist, either. Only Node 20 throws an error for that.
  const stats = orRefuse(file, () => (existsSync(file) ? statSync(file) : undefined))
  if (!stats) return {}
  // Windows stores permissions elsewhere. There, a user's own folder is private.
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
    throw new StartError(
      `Others can read ${file}, so it is not used. Run chmod 600 on it, or delete it and sign in again.`,
    )
  }
  const sessions = jsonOf(orRefuse(file, () => readFileSync(file, 'utf8')))
  if (typeof sessions !== 'object' || sessions === null || Array.isArray(sessions)) throw unusable(file)
  return sessions as Sessions
}

const unusable = (file: string) =>
  new StartError(`${file} is not a session file of standin login. Delete it and sign in again.`)

function isSession(value: unknown): value is StoredSession {
  const { email, accessToken, refreshToken, expiresAt } = { ...(value as Partial<StoredSession> | null) }
  const areTexts = [email, accessToken, refreshToken].every(text => typeof text === 'string')
  return areTexts && !Number.isNaN(Date.parse(String(expiresAt)))
}
