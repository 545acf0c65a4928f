/** `standin token` and `standin key create`: credentials for tests and scripts, made as the platform makes them. */
import { StartError, UsageError } from '../check/problem.js'
import type { LoadedConfig } from '../config/load.js'
import { signingKeysOf } from '../config/signing-keys.js'
import { usersAreLive } from '../core/errors.js'
import { AUTH } from '../core/paths.js'
import { developmentUser } from '../core/secrets.js'
import type { State } from '../core/state.js'
import { createApiKeys } from '../keys/api-keys.js'
import { configuredUser } from '../platform/state.js'
import { openState } from '../state/index.js'
import { validEmail } from '../supabase/addresses.js'
import type { Backend } from '../supabase/backend.js'
import { looseTokenFor, tokenFor } from '../supabase/mint.js'
import type { MintedToken, TokenRequest } from '../supabase/operations.js'
import { plantUser } from '../supabase/seeds.js'
import { createTokens } from '../supabase/tokens.js'
import { type CommandLine, load } from './arguments.js'

const roles = ['anon', 'service', 'user'] as const satisfies readonly TokenRequest['role'][]

/** An expired token has expired this long ago. */
const EXPIRED_SECONDS = -3600

/** A token for the given role, alone on its line. Throws a UsageError for flags that do not fit. */
export async function mintToken({ given, ...commandLine }: CommandLine): Promise<string> {
  requireNoMoreWords(commandLine, 1)
  const role = roleIn(given.get('role') ?? 'user')
  const email = given.get('email')
  if (email !== undefined && role !== 'user') throw new UsageError(`A token of the role ${role} has no e-mail address.`)
  const lifeSeconds = given.has('expired') ? EXPIRED_SECONDS : secondsIn(given.get('expires-in'))
  if (given.has('expired') && given.has('expires-in')) {
    throw new UsageError('Give --expires-in or --expired, not both.')
  }
  const loaded = load(commandLine)
  const { token } = await minted(
    { role, email: emailIn(email ?? developmentUser.email), expiresIn: lifeSeconds },
    loaded,
  )
  return `${token}\n`
}

/** A new API key, alone on its line. Throws a UsageError if the state is in memory, where the key would be lost with this process. */
export async function mintKey({ given, ...commandLine }: CommandLine): Promise<string> {
  requireNoMoreWords(commandLine, 2)
  const loaded = load(commandLine)
  if (loaded.config.state === 'memory') {
    throw new UsageError(
      'The state is kept in memory: a key would be gone at once. Name it in apiKeys of the configuration.',
    )
  }
  const lifeSeconds = secondsIn(given.get('expires-in'))
  const expiresAt = lifeSeconds === undefined ? null : new Date(inSeconds(lifeSeconds) * 1000).toISOString()
  const email = given.get('email')
  const name = String(given.get('name') ?? 'command line').trim()
  if (name === '') throw new UsageError('--name must be text that is not empty.')
  return withState(loaded, async state => {
    const owner = email === undefined ? null : await ownerOf(loaded, state, emailIn(email))
    const apiKeys = createApiKeys({ state: async () => state, report: console.error })
    const { key } = await apiKeys.create(owner, { name, expiresAt })
    return `${key}\n`
  })
}

function requireNoMoreWords({ words }: Pick<CommandLine, 'words'>, count: number): void {
  if (words.length > count) {
    throw new UsageError(`standin ${words.slice(0, count).join(' ')} takes no further words, such as ${words[count]}.`)
  }
}

function roleIn(text: string | true): TokenRequest['role'] {
  const role = roles.find(role => role === text)
  if (!role) throw new UsageError(`--role must be one of ${roles.join(', ')}, not "${text}".`)
  return role
}

function secondsIn(text: string | true | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = /^\d{1,10}$/.test(String(text)) ? Number(text) : 0
  if (seconds < 1) throw new UsageError(`--expires-in must be a number of seconds from 1, not "${text}".`)
  return seconds
}

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

/** The auth backend of a platform started here, without its state. */
function backendOf(loaded: LoadedConfig): Backend {
  const { auth, host, port } = loaded.config
  const tokens = createTokens({ jwtSecret: auth.jwtSecret, signingKeys: signingKeysOf(loaded) })
  return {
    state: () => Promise.reject(new Error('A command opens the state itself.')),
    tokens: () => tokens,
    settings: auth,
    now: Date.now,
    url: () => `http://${host}:${port}${AUTH}`,
    announce: () => {},
    origins: { requireOwnAdmin: () => {} },
  }
}

async function withState<T>({ config, dir }: LoadedConfig, work: (state: State) => Promise<T>): Promise<T> {
  const state = await openState(config.state, { dir })
  try {
    return await work(state)
  } finally {
    await state.close()
  }
}

/**
 * With a persistent state, a user's token gets a session, as if they had just signed in; unknown users are signed up.
 * A state in memory belongs to another process, so the token then has no session.
 */
async function minted(wish: TokenRequest, loaded: LoadedConfig): Promise<MintedToken> {
  const backend = backendOf(loaded)
  const seedOf = (email: string) => configuredUser(loaded, email)
  if (wish.role !== 'user') return tokenFor(backend, wish, seedOf)
  if (loaded.config.auth.mode === 'proxy') throw new UsageError(usersAreLive().message)
  if (loaded.config.state === 'memory') return looseTokenFor(backend, wish, seedOf)
  return withState(loaded, state => tokenFor({ ...backend, state: async () => state }, wish, seedOf))
}

function emailIn(given: string | true): string {
  try {
    return validEmail(String(given))
  } catch {
    throw new UsageError(`--email must be an e-mail address, not "${given}".`)
  }
}

async function ownerOf(loaded: LoadedConfig, state: State, email: string): Promise<string> {
  const seed = configuredUser(loaded, email)
  // Adds nothing else from the configuration: the platform that owns the state may have been started with another one.
  if (seed) await plantUser(state, seed, Date.now)
  const [user] = await state.read(({ users }) => users.find({ email }))
  if (!user) throw new StartError(`There is no user ${email}. Sign up first, or name the user in the configuration.`)
  return user.id
}
