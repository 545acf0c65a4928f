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
import { type Colors, relativePath } from './output.js'

/** Options that the banner shows in other lines. */
const shownAnyway = /^(host|port|controlToken|mode|modes|state|upstream\.(baseUrl|authUrl)|recordings\.dir)\b/

export function banner(
  platform: Platform,
  { variables, remarks }: Environment,
  version: string,
  colors: Colors,
): string {
  const { url, dashboardUrl, anonKey, apiKey, controlToken, mode, modes, loaded } = platform
  const { upstream, auth, state, users, recordings } = loaded.config
  const usesLive = mistakesWithoutLive({ mode, modes, recordings }).length > 0
  // Shows only the well-known development password, never one from the configuration.
  const user = auth.mode === 'local' ? users.find(({ email }) => email === developmentUser.email) : undefined
  const changed = changedOptions(loaded.config).filter(option => !shownAnyway.test(option))
  const facts = [
    ['Base URL', colors.bold(url)],
    ['Dashboard', dashboardUrl],
    ['API key', apiKey || 'none is valid'],
    ['Anon key', anonKey],
    ...(controlToken === '' ? [] : [['Control', `${controlToken} for ${url}${CONTROL}`] as const]),
    ...(user ? [['Sign in', `${user.email ?? user.phone} with password ${user.password}`] as const] : []),
    ['Config', loaded.file ? relativePath(loaded.file) : 'none, all defaults'],
    ...(changed.length > 0 ? [['Differs', changed.join(', ')] as const] : []),
    ['State', withoutPassword(state)],
    ...Object.entries(modes).map(([endpoint, mode]) => ['Mode', `${mode} for ${endpoint}`] as const),
    ...(usesLive ? [['Upstream', upstream.baseUrl] as const] : []),
    ...([mode, ...Object.values(modes)].some(usesRecordings)
      ? [['Recordings', relativePath(path.resolve(loaded.dir, recordings.dir))] as const]
      : []),
    ...(auth.mode === 'proxy' ? [['Live auth', upstream.authUrl] as const] : []),
  ] as const
  const lines = facts.map(([name, value]) => `  ${colors.dim(name.padEnd(10))} ${value}`)
  return [
    '',
    `  ${colors.bold(colors.green('Standin'))} ${version} ${colors.dim(`· mode ${mode}`)}`,
    '',
    ...lines,
    ...warningsOf(platform).flatMap(warning => ['', colors.yellow(`  ${warning}`)]),
    ...(remarks.length > 0 ? ['', ...remarks.map(remark => colors.yellow(`  ${remark}`))] : []),
    '',
    colors.dim('  To copy into .env:'),
    '',
    ...variables.map(([name, value]) => `${name}=${value}`),
    '',
  ].join('\n')
}

export function warningsOf({ mode, modes, loaded }: Platform): readonly string[] {
  const { host, upstream, auth, recordings } = loaded.config
  const usesLive = mistakesWithoutLive({ mode, modes, recordings }).length > 0
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
    ...(usesLive && upstream.credentials === 'swap' && upstream.apiKey === ''
      ? ['upstream.apiKey is not set: requests to the live /v1 carry no credential.']
      : []),
  ]
}

const withoutPassword = (state: string) => state.replace(/\/\/[^/@]*@/, '//…@')
