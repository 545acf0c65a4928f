/** `standin token` and `standin key create`: creates credentials for tests and scripts, as the platform itself does. */
import { StartError, UsageError } from '../check/problem.js'
import { usersAreLive } from '../core/errors.js'
import { AUTH } from '../core/paths.js'
import { developmentUser } from '../core/secrets.js'
import { createApiKeys } from '../keys/api-keys.js'
import type { LoadedConfig } from '../platform/config/load.js'
import { configuredUser } from '../platform/state.js'
import { openState } from '../state/index.js'
import type { State } from '../state/rows.js'
import type { TokenBackend } from '../supabase/backend.js'
import { accessTokenHookOf } from '../supabase/hook.js'
import { sessionlessTokenFor, tokenFor } from '../supabase/people.js'
import { plantUser } from '../supabase/seeds.js'
import { signingKeysOf } from '../supabase/signing-keys.js'
import { createTokens } from '../supabase/tokens.js'
import { validEmail } from '../supabase/users.js'
import { addressFlags, command, configFlag, integer, optionFlags, textFlag, toggle, wordFlag } from './command.js'
import { loadedConfig } from './load.js'

const roles = ['anon', 'service', 'user'] as const

const EXPIRED_SECONDS = -3600

const lifetime = (meaning: string) => ({ ...integer([1, 9_999_999_999], meaning, undefined), value: 'SECONDS' })

const token = command({
  flags: {
    ...addressFlags,
    state: optionFlags.state,
    role: wordFlag(roles, ['ROLE', 'Role of the token: anon, service or user (user)'], 'user'),
    email: textFlag('ADDRESS', 'Email address of the user (the development user)'),
    'expires-in': lifetime('Lifetime of the token (auth.jwtExp for a user)'),
    expired: toggle('Create a token that has already expired'),
  },
  examples: [['standin token --role user --email ada@example.com', 'print the token of a user']],
  async run(line) {
    const { role, email, expired, 'expires-in': seconds } = line.flags
    if (email !== undefined && role !== 'user') {
      throw new UsageError(`--email is for user tokens: leave it out with --role ${role}.`)
    }
    if (expired && seconds !== undefined) throw new UsageError('Give --expires-in or --expired, not both.')
    const expiresIn = expired ? EXPIRED_SECONDS : seconds
    const loaded = loadedConfig(line)
    if (role !== 'user') return `${await keyOf(role, expiresIn, loaded)}\n`
    return `${await userToken(parseEmail(email ?? developmentUser.email), expiresIn, loaded)}\n`
  },
})

/** Prints only the new key. With the state in memory, the key would be lost when this process ends. */
const keyCreate = command({
  flags: {
    ...configFlag,
    state: optionFlags.state,
    email: textFlag('ADDRESS', 'Email address of the owner (none)'),
    name: textFlag('NAME', 'Name of the key (command line)'),
    'expires-in': lifetime('Lifetime of the key (unlimited)'),
  },
  run(line) {
    const { email, name = 'command line', 'expires-in': seconds } = line.flags
    const loaded = loadedConfig(line)
    if (loaded.config.state === 'memory') {
      throw new UsageError(
        'The state is kept in memory, so a new key would be lost at once. Add a key to apiKeys in the configuration.',
      )
    }
    if (name.trim() === '') throw new UsageError('--name must not be empty.')
    const expiresAt =
      seconds === undefined ? null : new Date((Math.floor(Date.now() / 1000) + seconds) * 1000).toISOString()
    return withState(loaded, async state => {
      const owner = email === undefined ? null : await ownerOf(loaded, state, parseEmail(email))
      const apiKeys = createApiKeys({ state, report: console.error })
      const { key } = await apiKeys.create(owner, { name: name.trim(), expiresAt })
      return `${key}\n`
    })
  },
})

export const credentialCommands = { token, 'key create': keyCreate }

/** The auth backend of the configured platform, without its state. */
async function backendOf(loaded: LoadedConfig): Promise<TokenBackend> {
  const { auth, host, port } = loaded.config
  return {
    tokens: await createTokens({ jwtSecret: auth.jwtSecret, signingKeys: signingKeysOf(loaded) }),
    accessTokenHook: await accessTokenHookOf(loaded),
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

/** The anon or the service key; with a lifetime, a new one like it. */
async function keyOf(role: 'anon' | 'service', expiresIn: number | undefined, loaded: LoadedConfig): Promise<string> {
  const { tokens, now } = await backendOf(loaded)
  if (expiresIn === undefined) return role === 'anon' ? tokens.anonKey : tokens.serviceKey
  return tokens.signKey(role === 'anon' ? 'anon' : 'service_role', Math.floor(now() / 1000) + expiresIn)
}

/**
 * With a persistent state, a user's token gets a session, as if they had just signed in; unknown users are signed up.
 * A state in memory belongs to another process, so the token then has no session.
 */
async function userToken(email: string, expiresIn: number | undefined, loaded: LoadedConfig): Promise<string> {
  if (loaded.config.auth.mode === 'proxy') throw new UsageError(usersAreLive().message)
  const backend = await backendOf(loaded)
  const wish = { email, expiresIn, seed: configuredUser(loaded, email) }
  if (loaded.config.state === 'memory') return sessionlessTokenFor(backend, wish)
  return withState(loaded, state => tokenFor({ ...backend, state }, wish))
}

function parseEmail(input: string): string {
  try {
    return validEmail(input)
  } catch {
    throw new UsageError(`--email must be an email address, not "${input}".`)
  }
}

async function ownerOf(loaded: LoadedConfig, state: State, email: string): Promise<string> {
  const seed = configuredUser(loaded, email)
  // Adds nothing else from the configuration: the state may belong to a platform that was started with another one.
  if (seed) await plantUser(state, seed, Date.now)
  const [user] = await state.read(({ users }) => users.find({ email }))
  if (!user) throw new StartError(`There is no user ${email}. Sign up first, or add the user to the configuration.`)
  return user.id
}
