/** The text printed after a start: the addresses and keys of the platform, warnings, and what to copy into .env. */
import path from 'node:path'
import { usesRecordings } from '../core/exchange.js'
import { isLoopback, wildcards } from '../core/origins.js'
import { CONTROL } from '../core/paths.js'
import { developmentSecret, developmentUser } from '../core/secrets.js'
import type { Environment } from '../environment/index.js'
import { mistakesWithoutLive } from '../platform/config/load.js'
import { changedOptions } from '../platform/config/print.js'
import { hasPublicSecret } from '../platform/own-secrets.js'
import type { Platform } from '../platform.js'
import { version } from '../version.js'
import { type Colors, relativePath } from './output.js'

/** Options that the banner shows in other lines. */
const shownAnyway = /^(host|port|controlToken|mode|modes|state|upstream\.(baseUrl|authUrl)|recordings\.dir)\b/

export function banner(platform: Platform, { variables, remarks }: Environment, colors: Colors): string {
  const facts = factsOf(platform, colors).filter(([, value]) => value !== false)
  return [
    '',
    `  ${colors.bold(colors.green('Standin'))} ${version} ${colors.dim(`· mode ${platform.mode}`)}`,
    '',
    ...facts.map(([name, value]) => `  ${colors.dim(name.padEnd(10))} ${value}`),
    ...warningsOf(platform).flatMap(warning => ['', colors.yellow(`  ${warning}`)]),
    ...(remarks.length > 0 ? ['', ...remarks.map(remark => colors.yellow(`  ${remark}`))] : []),
    '',
    colors.dim('  To copy into .env:'),
    '',
    ...variables.map(([name, value]) => `${name}=${value}`),
    '',
  ].join('\n')
}

/** What the platform has; `false` for what it has not. */
function factsOf(platform: Platform, colors: Colors): readonly (readonly [name: string, value: string | false])[] {
  const { url, dashboardUrl, anonKey, apiKey, controlToken, mode, modes, loaded } = platform
  const { upstream, auth, state, users, recordings } = loaded.config
  // Shows only the well-known development password, never one from the configuration.
  const user = auth.mode === 'local' && users.find(({ email }) => email === developmentUser.email)
  const changed = changedOptions(loaded.config).filter(option => !shownAnyway.test(option))
  const isRecorded = [mode, ...Object.values(modes)].some(usesRecordings)
  return [
    ['Base URL', colors.bold(url)],
    ['Dashboard', dashboardUrl],
    ['API key', apiKey || 'none is valid'],
    ['Anon key', anonKey],
    ['Control', controlToken !== '' && `${controlToken} for ${url}${CONTROL}`],
    ['Sign in', user ? `${user.email ?? user.phone} with password ${user.password}` : false],
    ['Config', loaded.file ? relativePath(loaded.file) : 'none, all defaults'],
    ['Differs', changed.length > 0 && changed.join(', ')],
    ['State', withoutPassword(state)],
    ...Object.entries(modes).map(([endpoint, mode]) => ['Mode', `${mode} for ${endpoint}`] as const),
    ['Upstream', usesLive(platform) && upstream.baseUrl],
    ['Recordings', isRecorded && relativePath(path.resolve(loaded.dir, recordings.dir))],
    ['Live auth', auth.mode === 'proxy' && upstream.authUrl],
  ]
}

const usesLive = ({ mode, modes, loaded }: Platform): boolean =>
  mistakesWithoutLive({ mode, modes, recordings: loaded.config.recordings }).length > 0

export function warningsOf(platform: Platform): readonly string[] {
  const { loaded } = platform
  const { host, upstream, auth } = loaded.config
  const address = wildcards.has(host) ? 'every address of this machine' : host
  const publicOrOwn = hasPublicSecret(loaded.config)
    ? 'and the development keys are public'
    : 'with keys that are not the public development keys'
  return [
    ...(isLoopback(host) ? [] : [`Listening on ${address}: other machines can reach it, ${publicOrOwn}.`]),
    ...(auth.signingKeys !== '' && auth.jwtSecret === developmentSecret
      ? [
          'auth.jwtSecret is the public default: anyone can sign service keys and user tokens, despite auth.signingKeys.',
        ]
      : []),
    ...(usesLive(platform) && upstream.credentials === 'swap' && upstream.apiKey === ''
      ? ['upstream.apiKey is not set: requests to the live /v1 carry no credential.']
      : []),
  ]
}

const withoutPassword = (state: string) => state.replace(/\/\/[^/@]*@/, '//…@')
